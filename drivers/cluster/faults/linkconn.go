package faults

import (
	"bytes"
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

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
	both.Go(func() { p.carry(p.far, p.near) })
	both.Go(func() { p.carry(p.near, p.far) })
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
func (p *linkConn) carry(from, to net.Conn) {
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
func (p *linkConn) wait(next parcel) bool {
	return sleep(time.Until(next.due), p.cut) && p.link.silence.Wait(p.gone) && p.squeeze(len(next.bytes))
}

// squeeze waits as long as the link's rate requires for n bytes. It rereads the rate regularly,
// since a parcel may take hours at a low rate.
func (p *linkConn) squeeze(n int) bool {
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
