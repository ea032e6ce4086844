package faults

import (
	"net"
	"sync"
	"time"
)

// A Line simulates the network of one session's connections, or of those between two servers. The
// zero Line passes everything without delay. Its settings apply to existing and future connections.
type Line struct {
	mu     sync.Mutex
	delay  time.Duration
	rate   int64 // bytes a second; 0 means no limit
	gate   Gate  // shut while the line is silent
	passes map[*pass]bool
}

// Through returns a connection that goes through the line to c.
func (l *Line) Through(c net.Conn) net.Conn {
	ours, theirs := net.Pipe()
	p := l.pass(theirs, c)
	go p.run()
	return &end{Conn: ours, far: c, pass: p}
}

// Join forwards data between two connections. When one has ended and the line has passed that on,
// it closes both and returns.
func (l *Line) Join(near, far net.Conn) { l.pass(near, far).run() }

// Cross waits as long as a message sent now takes and returns true, or until give is closed and
// returns false.
func (l *Line) Cross(give <-chan struct{}) bool {
	delay, _ := l.pace()
	return sleep(delay, give) && l.gate.Pass(give)
}

// Delay delays all data by d in each direction.
func (l *Line) Delay(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.delay = d
}

// Throttle limits each connection to rate bytes a second in each direction.
func (l *Line) Throttle(rate int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rate = rate
}

// Silence blocks all data. Data and the end of a connection are held back.
func (l *Line) Silence() { l.gate.Shut() }

// Speak ends Silence. Held-back and new data passes.
func (l *Line) Speak() { l.gate.Open() }

// Mend removes the delay, the throttle and the silence.
func (l *Line) Mend() {
	l.Delay(0)
	l.Throttle(0)
	l.Speak()
}

// Cut breaks the existing connections.
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

// An end is the session's end of a connection through a line.
type end struct {
	net.Conn
	far  net.Conn
	pass *pass
}

// LocalAddr returns the local address of the underlying connection.
func (e *end) LocalAddr() net.Addr { return e.far.LocalAddr() }

// RemoteAddr returns the remote address of the underlying connection.
func (e *end) RemoteAddr() net.Addr { return e.far.RemoteAddr() }

// Close closes the connection after the data sent has passed the line. A silent line drops the
// data.
func (e *end) Close() error {
	e.pass.giveUp()
	return e.Conn.Close()
}
