package faults

import (
	"net"
	"time"
)

// A pass is one connection on a line: what comes out of the far end, the server's,
// goes into the near one, and the other way round.
type pass struct {
	line      *Line
	near, far net.Conn
	gone      chan struct{} // closed when the session has given the connection up
}

// A parcel is what was sent at once.
type parcel struct {
	bytes []byte
	due   time.Time
}

const (
	parcelSize = 16 << 10
	// underWay is how many parcels the line takes before the sender has to wait.
	underWay = 256
)

func (p *pass) begin() {
	go func() {
		p.carry(p.far, p.near)
		p.line.forget(p)
	}()
	go p.carry(p.near, p.far)
}

// carry hands on what comes from one end to the other, in order, until one of
// them is closed; then it closes both ends of this direction.
func (p *pass) carry(from, to net.Conn) {
	parcels := make(chan parcel, underWay)
	over := make(chan struct{})
	go p.collect(from, parcels, over)
	for next := range parcels {
		if !p.wait(next) {
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
	for {
		bytes := make([]byte, parcelSize)
		n, err := from.Read(bytes)
		if n > 0 {
			delay, _ := p.line.pace()
			select {
			case parcels <- parcel{bytes[:n], time.Now().Add(delay)}:
			case <-over:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// wait waits until the parcel may pass. It tells whether somebody is still there
// to have it.
func (p *pass) wait(next parcel) bool {
	time.Sleep(time.Until(next.due))
	for opens := p.line.gate.Opens(); opens != nil; opens = p.line.gate.Opens() {
		select {
		case <-opens:
		case <-p.gone:
			return false
		}
	}
	if _, rate := p.line.pace(); rate > 0 {
		time.Sleep(time.Duration(int64(len(next.bytes)) * int64(time.Second) / rate))
	}
	return true
}
