package drivers

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Lasting opens a session with open, and returns a Conn that opens another one whenever its
// session is lost, until it is closed. Meanwhile calls wait, as they do for a reconnect. A call
// during which the session was lost fails with [ErrConnectionLoss] once there is another: a write
// may have been executed. With a session its ephemeral nodes end, unless open makes them again, and
// its watches are called with Lost. Done is closed by Close only.
//
// A Flush concerns the session that is open, or was the last: if it is lost, Flush fails with
// [ErrSessionLost] and does not wait.
func Lasting(ctx context.Context, open func(context.Context) (Conn, error)) (Conn, error) {
	conn, err := open(ctx)
	if err != nil {
		return nil, err
	}
	l := &lasting{open: open, conn: conn, replaced: make(chan struct{}), done: make(chan struct{})}
	ctx, l.end = context.WithCancel(context.Background())
	go l.keep(ctx)
	return l, nil
}

type lasting struct {
	open func(context.Context) (Conn, error)
	end  context.CancelFunc
	done chan struct{} // closed when no further session is opened

	mu       sync.Mutex
	conn     Conn
	replaced chan struct{} // closed when another session has replaced conn
	refused  error         // why none could be opened since conn was lost
}

const (
	// openingTime bounds one attempt to open a session: a service may accept a connection and
	// never answer on it.
	openingTime = 10 * time.Second
	// openEvery is the time between two attempts.
	openEvery = 100 * time.Millisecond
)

// keep opens another session whenever the last one is lost.
func (l *lasting) keep(ctx context.Context) {
	defer close(l.done)
	for {
		conn, _ := l.session()
		select {
		case <-conn.Done():
		case <-ctx.Done():
			return
		}
		for !l.reopen(ctx) {
			if Pause(ctx, openEvery) != nil {
				return
			}
		}
	}
}

// reopen tries to open another session and reports whether it has.
func (l *lasting) reopen(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, openingTime)
	defer cancel()
	conn, err := l.open(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refused = err; err != nil {
		return false
	}
	close(l.replaced)
	l.conn, l.replaced = conn, make(chan struct{})
	return true
}

// Capability returns a Conn as one that can do more, such as a [PersistentWatcher], and whether it can. What a
// Conn of [Lasting] cannot do itself its session may: then that session is returned, and ends as it does.
func Capability[S Conn](c Conn) (capable S, ok bool) {
	if capable, ok = c.(S); ok {
		return capable, ok
	}
	if l, lasts := c.(*lasting); lasts {
		c, _ = l.session()
		capable, ok = c.(S)
	}
	return capable, ok
}

func (l *lasting) session() (conn Conn, replaced <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.conn, l.replaced
}

// call makes a call on the session. If the session is lost, it waits until another one is open.
func (l *lasting) call(ctx context.Context, f func(Conn) error) error {
	conn, replaced := l.session()
	err := f(conn)
	if !errors.Is(err, ErrSessionLost) {
		return err
	}
	select {
	case <-replaced:
		return fmt.Errorf("%w with its session", ErrConnectionLoss)
	case <-l.done:
		return err
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refused == nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("%w: %w", context.Cause(ctx), l.refused)
}

func (l *lasting) Create(ctx context.Context, path string, data []byte, mode Mode) (made Child, err error) {
	err = l.call(ctx, func(c Conn) (err error) { made, err = c.Create(ctx, path, data, mode); return err })
	return made, err
}

func (l *lasting) Delete(ctx context.Context, path string, version int32) error {
	return l.call(ctx, func(c Conn) error { return c.Delete(ctx, path, version) })
}

func (l *lasting) Exists(ctx context.Context, path string, w Watch) (stat Stat, exists bool, err error) {
	err = l.call(ctx, func(c Conn) (err error) { stat, exists, err = c.Exists(ctx, path, w); return err })
	return stat, exists, err
}

func (l *lasting) Get(ctx context.Context, path string, w Watch) (data []byte, stat Stat, err error) {
	err = l.call(ctx, func(c Conn) (err error) { data, stat, err = c.Get(ctx, path, w); return err })
	return data, stat, err
}

func (l *lasting) Set(ctx context.Context, path string, data []byte, version int32) (stat Stat, err error) {
	err = l.call(ctx, func(c Conn) (err error) { stat, err = c.Set(ctx, path, data, version); return err })
	return stat, err
}

func (l *lasting) Children(ctx context.Context, path string, w Watch) (all []Child, err error) {
	err = l.call(ctx, func(c Conn) (err error) { all, err = c.Children(ctx, path, w); return err })
	return all, err
}

func (l *lasting) Sync(ctx context.Context, path string) error {
	return l.call(ctx, func(c Conn) error { return c.Sync(ctx, path) })
}

func (l *lasting) Flush(ctx context.Context) error {
	conn, _ := l.session()
	return Flush(ctx, conn)
}

func (l *lasting) Done() <-chan struct{} { return l.done }

// Close ends the session, and opens no further one.
func (l *lasting) Close() error {
	l.end()
	<-l.done
	conn, _ := l.session()
	return conn.Close()
}
