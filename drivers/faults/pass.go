package faults

import (
	"bytes"
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// A pass is one connection on a line: what comes out of the far end goes into the
// near one, and the other way round.
type pass struct {
	line      *Line
	near, far net.Conn

	hung atomic.Int32 // ends that have been closed

	cut      <-chan struct{} // closed when it is broken
	breakOff context.CancelFunc
	gone     <-chan struct{}    // closed then, or when the session has given the connection up
	giveUp   context.CancelFunc // lets it end also in silence
}

func newPass(l *Line, near, far net.Conn) *pass {
	p := &pass{line: l, near: near, far: far}
	cut, breakOff := context.WithCancel(context.Background())
	gone, giveUp := context.WithCancel(cut)
	p.cut, p.breakOff, p.gone, p.giveUp = cut.Done(), breakOff, gone.Done(), giveUp
	return p
}

// A parcel is what was sent at once; nothing where the sender has hung up.
type parcel struct {
	bytes []byte
	due   time.Time
}

const (
	parcelSize = 16 << 10
	// underWay is how many parcels the line takes before the sender has to wait.
	underWay = 256
)

// run hands on what comes, both ways, until one of the ends is closed.
func (p *pass) run() {
	defer p.line.forget(p)
	defer p.breakOff()
	var both sync.WaitGroup
	both.Go(func() { p.carry(p.far, p.near) })
	both.Go(func() { p.carry(p.near, p.far) })
	both.Wait()
}

// sever ends it at once.
func (p *pass) sever() {
	p.breakOff()
	p.near.Close()
	p.far.Close()
}

// carry hands on what comes from one end to the other, in order, until one of
// them is closed, which is news that takes its time as well; then it closes both.
func (p *pass) carry(from, to net.Conn) {
	parcels := make(chan parcel, underWay)
	over := make(chan struct{})
	go p.collect(from, parcels, over)
	for next := range parcels {
		if !p.wait(next) || len(next.bytes) == 0 {
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

// collect reads until the end comes to its end.
func (p *pass) collect(from net.Conn, parcels chan<- parcel, over <-chan struct{}) {
	defer close(parcels)
	read := make([]byte, parcelSize)
	for {
		n, err := from.Read(read)
		if n == 0 && err == nil {
			continue
		}
		if n == 0 && p.hung.Add(1) == 2 {
			p.sever() // nobody is left to be told anything
			return
		}
		delay, _ := p.line.pace()
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

// wait waits until the parcel may pass. It tells whether somebody is still there
// to have it.
func (p *pass) wait(next parcel) bool {
	return sleep(time.Until(next.due), p.cut) && p.line.gate.Pass(p.gone) && p.squeeze(len(next.bytes))
}

// squeeze takes as long as the line's rate wants for so many bytes. It looks at the
// rate now and then: a parcel may be more than it lets pass in hours.
func (p *pass) squeeze(n int) bool {
	for left := int64(n); left > 0; {
		_, rate := p.line.pace()
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

// sleep takes so long, and tells whether it was left to.
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
