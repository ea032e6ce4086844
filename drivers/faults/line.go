package faults

import (
	"net"
	"sync"
	"time"
)

// A Line is what the connections of one session go through. The zero Line lets
// everything pass at once. What is done to it holds for those to come as well.
type Line struct {
	mu     sync.Mutex
	delay  time.Duration
	rate   int64 // bytes a second; 0: as many as there are
	gate   Gate  // of what is sent
	passes map[*pass]bool
}

// Through has a connection go through the line.
func (l *Line) Through(c net.Conn) net.Conn {
	ours, theirs := net.Pipe()
	p := &pass{line: l, far: c, near: theirs, gone: make(chan struct{})}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.passes == nil {
		l.passes = make(map[*pass]bool)
	}
	l.passes[p] = true
	p.begin()
	return &end{Conn: ours, far: c, pass: p}
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

// Silence lets nothing pass. What is sent waits.
func (l *Line) Silence() { l.gate.Shut() }

// Mend lets everything pass at once.
func (l *Line) Mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.delay, l.rate = 0, 0
	l.gate.Open()
}

// Cut breaks the connections there are.
func (l *Line) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for p := range l.passes {
		p.near.Close()
		p.far.Close()
	}
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
	once sync.Once
}

// LocalAddr is that of the connection.
func (e *end) LocalAddr() net.Addr { return e.far.LocalAddr() }

// RemoteAddr is that of the connection.
func (e *end) RemoteAddr() net.Addr { return e.far.RemoteAddr() }

// Close lets what was sent arrive, unless nothing passes.
func (e *end) Close() error {
	e.once.Do(func() { close(e.pass.gone) })
	return e.Conn.Close()
}
