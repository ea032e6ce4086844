package faults

import (
	"bytes"
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// A Link simulates the network of one session's connections, or of those between two servers. The
// zero Link passes everything without delay. Its settings apply to existing and future connections.
type Link struct {
	mu      sync.Mutex
	delay   time.Duration
	rate    int64  // bytes a second; 0 means no limit
	relay   Relay  // of connections that WrapRelayed returns
	out, in Pauser // each is paused while the link is silent in that direction
	passes  map[*linkConn]bool

	holding int           // how many directions of connections hold data back that the rate does not let pass
	idle    time.Duration // for how long none did, since the far end was last heard
	since   time.Time     // when the last of them had let it pass
}

// Wrap returns a connection that goes through the link to c.
func (l *Link) Wrap(c net.Conn) net.Conn {
	ours, theirs := net.Pipe()
	p := l.pass(theirs, c)
	go p.run()
	return &end{Conn: ours, far: c, pass: p}
}

// WrapRelayed returns a connection that goes through the link, and its relay, to c, which speaks ZooKeeper's protocol.
func (l *Link) WrapRelayed(c net.Conn) net.Conn { return l.relay.Wrap(l.Wrap(c)) }

// Join forwards data between two connections: out from near to far, in from far to near. When one
// has ended and the link has passed that on, it closes both and returns.
func (l *Link) Join(near, far net.Conn) { l.pass(near, far).run() }

// Cross waits as long as a message sent now takes, and until an answer to it could pass, and returns
// true, or until give is closed and returns false.
func (l *Link) Cross(give <-chan struct{}) bool {
	delay, _ := l.pace()
	return sleep(delay, give) && l.out.Wait(give) && l.in.Wait(give)
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
	if l.rate == 0 {
		l.idle, l.since = 0, time.Now()
	}
	l.rate = rate
}

// Idle returns for how long a throttled link has held nothing back since data of the far end last passed: how much of the far
// end's silence the throttle does not explain.
func (l *Link) Idle() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.holding > 0 {
		return l.idle
	}
	return l.idle + time.Since(l.since)
}

// hold begins to hold data back.
func (l *Link) hold() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.holding++; l.holding == 1 {
		l.idle += time.Since(l.since)
	}
}

// release ends that. heard says that data of the far end has passed.
func (l *Link) release(heard bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if heard {
		l.idle = 0
	}
	l.holding--
	l.since = time.Now()
}

// Silence blocks all data in the directions and no other: it is held back, and so is the end of a
// connection. What was held back in other directions passes.
func (l *Link) Silence(d drivers.Direction) {
	l.out.set(d&drivers.Out != 0)
	l.in.set(d&drivers.In != 0)
}

// Restore removes the delay, the throttle and the silence, and lets notifications pass once.
func (l *Link) Restore() {
	l.relay.Do(Restore)
	l.Delay(0)
	l.Throttle(0)
	l.Silence(0)
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

// A Pauser blocks the goroutines that call Wait while it is paused, and puts off what is given to
// Do. The zero Pauser is not paused.
type Pauser struct {
	mu      sync.Mutex
	resumed chan struct{} // nil while it is not paused
	putOff  []func()
}

// Do calls f now, or if the Pauser is paused, in Resume. Calls that are put off keep their order. f
// must not call the Pauser.
func (p *Pauser) Do(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.resumed != nil {
		p.putOff = append(p.putOff, f)
		return
	}
	f()
}

func (p *Pauser) set(paused bool) {
	if paused {
		p.Pause()
	} else {
		p.Resume()
	}
}

// Pause blocks callers of Wait from now on.
func (p *Pauser) Pause() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.resumed == nil {
		p.resumed = make(chan struct{})
	}
}

// Resume makes the calls that were put off and wakes the waiting goroutines.
func (p *Pauser) Resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.putOff {
		f()
	}
	p.putOff = nil
	if p.resumed != nil {
		close(p.resumed)
		p.resumed = nil
	}
}

// Wait waits until the Pauser is not paused and returns true, or until give is closed and returns
// false. A nil give is never closed.
func (p *Pauser) Wait(give <-chan struct{}) bool {
	for resumed := p.Resumed(); resumed != nil; resumed = p.Resumed() {
		select {
		case <-resumed:
		case <-give:
			return false
		}
	}
	return true
}

// Resumed returns a channel that is closed by Resume; nil if the Pauser is not paused.
func (p *Pauser) Resumed() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.resumed
}

// A linkConn is one connection on a link. It forwards data between the near and the far end.
type linkConn struct {
	link      *Link
	near, far net.Conn

	hung atomic.Int32 // number of closed ends

	cut      <-chan struct{} // closed when the connection is broken
	breakOff context.CancelFunc
	gone     <-chan struct{}    // closed with cut, or when the session closes the connection
	giveUp   context.CancelFunc // lets the connection end even in silence
}

func newLinkConn(l *Link, near, far net.Conn) *linkConn {
	p := &linkConn{link: l, near: near, far: far}
	cut, breakOff := context.WithCancel(context.Background())
	gone, giveUp := context.WithCancel(cut)
	p.cut, p.breakOff, p.gone, p.giveUp = cut.Done(), breakOff, gone.Done(), giveUp
	return p
}

// A parcel is data read in one piece. It is empty if the sender has closed the connection.
type parcel struct {
	bytes []byte
	due   time.Time
}

const (
	parcelSize = 16 << 10
	// underWay is the number of parcels that a link buffers before the sender has to wait.
	underWay = 256
)

// run forwards data in both directions until one end is closed.
func (p *linkConn) run() {
	defer p.link.forget(p)
	defer p.breakOff()
	var both sync.WaitGroup
	both.Go(func() { p.carry(p.far, p.near, &p.link.in) })
	both.Go(func() { p.carry(p.near, p.far, &p.link.out) })
	both.Wait()
}

// sever closes both ends immediately.
func (p *linkConn) sever() {
	p.breakOff()
	p.near.Close()
	p.far.Close()
}

// carry forwards data from one end to the other, in order, until one of them is closed. The close
// takes the link's delay too; then carry closes both ends.
func (p *linkConn) carry(from, to net.Conn, silence *Pauser) {
	parcels := make(chan parcel, underWay)
	over := make(chan struct{})
	go p.collect(from, parcels, over)
	for next := range parcels {
		if !p.wait(next, silence) || len(next.bytes) == 0 {
			break
		}
		if _, err := to.Write(next.bytes); err != nil {
			break
		}
	}
	close(over)
	from.Close()
	to.Close()
}

// collect reads parcels until the end is closed.
func (p *linkConn) collect(from net.Conn, parcels chan<- parcel, over <-chan struct{}) {
	defer close(parcels)
	read := make([]byte, parcelSize)
	for {
		n, err := from.Read(read)
		if n == 0 && err == nil {
			continue
		}
		if n == 0 && p.hung.Add(1) == 2 {
			p.sever() // both ends are closed
			return
		}
		delay, _ := p.link.pace()
		select {
		case parcels <- parcel{bytes.Clone(read[:n]), time.Now().Add(delay)}:
		case <-over:
			return
		}
		if n == 0 {
			return
		}
	}
}

// wait waits until the parcel may pass. It returns false if the connection ends before.
func (p *linkConn) wait(next parcel, silence *Pauser) bool {
	return sleep(time.Until(next.due), p.cut) && silence.Wait(p.gone) && p.squeeze(len(next.bytes), silence == &p.link.in)
}

// squeeze waits as long as the link's rate requires for n bytes, which come from the far end if in is set. It rereads the
// rate regularly, since a parcel may take hours at a low rate.
func (p *linkConn) squeeze(n int, in bool) (passes bool) {
	p.link.hold()
	defer func() { p.link.release(in && passes && n > 0) }()
	for left := int64(n); left > 0; {
		_, rate := p.link.pace()
		if rate == 0 {
			return true
		}
		some := min(left, max(1, rate/10))
		if !sleep(time.Duration(some*int64(time.Second)/rate), p.cut) {
			return false
		}
		left -= some
	}
	return true
}

// sleep waits for d. It returns false if give is closed before.
func sleep(d time.Duration, give <-chan struct{}) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-give:
		return false
	}
}
