package faults

import (
	"net"
	"sync"
	"time"
)

// A Link simulates the network of one session's connections, or of those between two servers. The
// zero Link passes everything without delay. Its settings apply to existing and future connections.
type Link struct {
	mu      sync.Mutex
	delay   time.Duration
	rate    int64  // bytes a second; 0 means no limit
	silence Pauser // paused while the link is silent
	passes  map[*linkConn]bool
}

// Through returns a connection that goes through the link to c.
func (l *Link) Through(c net.Conn) net.Conn {
	ours, theirs := net.Pipe()
	p := l.pass(theirs, c)
	go p.run()
	return &end{Conn: ours, far: c, pass: p}
}

// Join forwards data between two connections. When one has ended and the link has passed that on,
// it closes both and returns.
func (l *Link) Join(near, far net.Conn) { l.pass(near, far).run() }

// Cross waits as long as a message sent now takes and returns true, or until give is closed and
// returns false.
func (l *Link) Cross(give <-chan struct{}) bool {
	delay, _ := l.pace()
	return sleep(delay, give) && l.silence.Wait(give)
}

// Delay delays all data by d in each direction.
func (l *Link) Delay(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.delay = d
}

// Throttle limits each connection to rate bytes a second in each direction.
func (l *Link) Throttle(rate int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rate = rate
}

// Silence blocks all data. Data and the end of a connection are held back.
func (l *Link) Silence() { l.silence.Pause() }

// Speak ends Silence. Held-back and new data passes.
func (l *Link) Speak() { l.silence.Resume() }

// Restore removes the delay, the throttle and the silence.
func (l *Link) Restore() {
	l.Delay(0)
	l.Throttle(0)
	l.Speak()
}

// Cut breaks the existing connections.
func (l *Link) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for p := range l.passes {
		p.sever()
	}
}

func (l *Link) pass(near, far net.Conn) *linkConn {
	p := newLinkConn(l, near, far)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.passes == nil {
		l.passes = make(map[*linkConn]bool)
	}
	l.passes[p] = true
	return p
}

func (l *Link) pace() (delay time.Duration, rate int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.delay, l.rate
}

func (l *Link) forget(p *linkConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.passes, p)
}

// An end is the session's end of a connection through a link.
type end struct {
	net.Conn
	far  net.Conn
	pass *linkConn
}

// LocalAddr returns the local address of the underlying connection.
func (e *end) LocalAddr() net.Addr { return e.far.LocalAddr() }

// RemoteAddr returns the remote address of the underlying connection.
func (e *end) RemoteAddr() net.Addr { return e.far.RemoteAddr() }

// Close closes the connection after the data sent has passed the link. A silent link drops the
// data.
func (e *end) Close() error {
	e.pass.giveUp()
	return e.Conn.Close()
}

// A Pauser blocks the goroutines that call Wait while it is paused. The zero Pauser is not.
type Pauser struct {
	mu      sync.Mutex
	resumed chan struct{} // nil while it is not paused
}

// Pause blocks callers of Wait from now on.
func (p *Pauser) Pause() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.resumed == nil {
		p.resumed = make(chan struct{})
	}
}

// Resume wakes the waiting goroutines.
func (p *Pauser) Resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.resumed != nil {
		close(p.resumed)
		p.resumed = nil
	}
}

// Wait waits until the Pauser is not paused and returns true, or until give is closed and returns
// false. A nil give is never closed.
func (p *Pauser) Wait(give <-chan struct{}) bool {
	for resumed := p.paused(); resumed != nil; resumed = p.paused() {
		select {
		case <-resumed:
		case <-give:
			return false
		}
	}
	return true
}

// paused returns a channel that is closed by Resume; nil if the Pauser is not paused.
func (p *Pauser) paused() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.resumed
}
