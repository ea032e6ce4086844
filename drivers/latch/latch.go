package latch

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/stampede-bench/stampede/drivers"
)

// A Latch is closed while the session has no connection, so that a call that was cancelled
// before the reconnect was certainly not sent. It is also closed while a write whose caller has
// returned is unanswered: the service may still execute that write, and must not do so after a
// later call. The zero Latch is closed until the first connection.
//
// Note: this is no semaphore. A semaphore counts the calls that pass, and Hold would have to
// wait for them; a Latch lets all calls pass or none, and Hold takes effect at once.
type Latch struct {
	open atomic.Bool // the only field that a call reads if it need not wait

	mu        sync.Mutex
	connected bool
	held      int           // unanswered writes whose callers have returned
	opened    chan struct{} // closed when the latch opens; nil if no call waits
}

// Wait returns when the latch is open. It returns an error if the session has ended, which
// closes done, or if the context ends.
func (l *Latch) Wait(ctx context.Context, done <-chan struct{}) error {
	for {
		select {
		case <-done:
			return drivers.ErrSessionLost
		default:
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if l.open.Load() {
			return nil
		}
		select {
		case <-l.whenOpen():
		case <-ctx.Done():
		case <-done:
		}
	}
}

// whenOpen returns a channel that is closed when the latch opens, or is closed already.
func (l *Latch) whenOpen() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.opened == nil {
		l.opened = make(chan struct{})
	}
	opened := l.opened
	l.update()
	return opened
}

// SetConnected records whether the session has a connection.
func (l *Latch) SetConnected(connected bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.connected = connected
	l.update()
}

// Connected reports whether the session has a connection.
func (l *Latch) Connected() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.connected
}

// Hold keeps the latch closed until Release was called as often as Hold.
func (l *Latch) Hold() { l.hold(1) }

// Release undoes one Hold.
func (l *Latch) Release() { l.hold(-1) }

func (l *Latch) hold(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held += n
	l.update()
}

// update opens or closes the latch. The caller holds the lock.
func (l *Latch) update() {
	open := l.connected && l.held == 0
	l.open.Store(open)
	if open && l.opened != nil {
		close(l.opened)
		l.opened = nil
	}
}
