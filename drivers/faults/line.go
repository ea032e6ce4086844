package faults

import (
	"net"
	"sync"
	"time"
)

// A Line is what the connections of one session go through, or those between two
// servers. The zero Line lets everything pass at once. What is done to it holds for
// those to come as well.
type Line struct {
	mu     sync.Mutex
	delay  time.Duration
	rate   int64 // bytes a second; 0: as many as there are
	gate   Gate  // shut while it is silent
	passes map[*pass]bool
}

// Through has a connection of a session go through the line.
func (l *Line) Through(c net.Conn) net.Conn {
	ours, theirs := net.Pipe()
	p := l.pass(theirs, c)
	go p.run()
	return &end{Conn: ours, far: c, pass: p}
}

// Join hands on what comes from either connection to the other, until one has ended
// and the line has let that pass; both are closed then.
func (l *Line) Join(near, far net.Conn) { l.pass(near, far).run() }

// Cross waits as long as a message takes that is sent now, and returns true; or
// until give is closed, and returns false.
func (l *Line) Cross(give <-chan struct{}) bool {
	delay, _ := l.pace()
	return sleep(delay, give) && l.gate.Pass(give)
}

// Delay has everything arrive so much later, each way.
func (l *Line) Delay(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.delay = d
}

// Throttle lets so many bytes a second pass, each way.
func (l *Line) Throttle(rate int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rate = rate
}

// Silence lets nothing pass. What is sent waits, and so does the end of a connection.
func (l *Line) Silence() { l.gate.Shut() }

// Speak lets pass what waited in silence, and what comes.
func (l *Line) Speak() { l.gate.Open() }

// Mend lets everything pass at once.
func (l *Line) Mend() {
	l.Delay(0)
	l.Throttle(0)
	l.Speak()
}

// Cut breaks the connections there are.
func (l *Line) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for p := range l.passes {
		p.sever()
	}
}

func (l *Line) pass(near, far net.Conn) *pass {
	p := newPass(l, near, far)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.passes == nil {
		l.passes = make(map[*pass]bool)
	}
	l.passes[p] = true
	return p
}

func (l *Line) pace() (delay time.Duration, rate int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.delay, l.rate
}

func (l *Line) forget(p *pass) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.passes, p)
}

// An end is the session's end of a connection that goes through a line.
type end struct {
	net.Conn
	far  net.Conn
	pass *pass
}

// LocalAddr is that of the connection.
func (e *end) LocalAddr() net.Addr { return e.far.LocalAddr() }

// RemoteAddr is that of the connection.
func (e *end) RemoteAddr() net.Addr { return e.far.RemoteAddr() }

// Close lets what was sent arrive, unless nothing passes.
func (e *end) Close() error {
	e.pass.giveUp()
	return e.Conn.Close()
}
