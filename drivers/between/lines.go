package between

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers/faults"
)

// Lines are what the members of an ensemble, counted from 0, reach each other
// through.
type Lines struct {
	proxies []net.Listener
	homes   map[string]home // by port
	pairs   [][]*faults.Line
	dial    func(address string) (net.Conn, error)

	mu   sync.Mutex
	ways []way             // of the members
	ends map[net.Conn]bool // of connections there are

	over  <-chan struct{} // closed with the lines
	end   context.CancelFunc
	going sync.WaitGroup
}

// A home is where a member listens.
type home struct {
	member  int
	address string
}

// A way is what is wrong between a member and all others.
type way struct {
	apart bool
	delay time.Duration
	rate  int64
}

// New opens the lines between members that listen at such addresses, host:port,
// each at one or more, and at no port that another listens at.
func New(members [][]string) (*Lines, error) {
	l, err := between(members)
	if err != nil {
		return nil, err
	}
	for caller := range members {
		proxy, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			l.Close()
			return nil, err
		}
		l.proxies = append(l.proxies, proxy)
		l.going.Go(func() { l.serve(proxy, caller) })
	}
	return l, nil
}

// between is the lines without a proxy.
func between(members [][]string) (*Lines, error) {
	l := &Lines{
		homes: make(map[string]home), ways: make([]way, len(members)), ends: make(map[net.Conn]bool),
		dial: func(address string) (net.Conn, error) { return net.Dial("tcp", address) },
	}
	over, end := context.WithCancel(context.Background())
	l.over, l.end = over.Done(), end
	for i, addresses := range members {
		for _, a := range addresses {
			_, port, err := net.SplitHostPort(a)
			if err != nil {
				return nil, err
			}
			if other, taken := l.homes[port]; taken {
				return nil, fmt.Errorf("members %d and %d listen at port %s: want a port each", other.member, i, port)
			}
			l.homes[port] = home{i, a}
		}
		l.pairs = append(l.pairs, make([]*faults.Line, len(members)))
		for j := range i + 1 {
			line := new(faults.Line)
			l.pairs[i][j], l.pairs[j][i] = line, line
		}
	}
	return l, nil
}

// Proxy is where the member's proxy listens, host:port. By which name the member
// calls another does not matter, only at which port.
func (l *Lines) Proxy(member int) string { return l.proxies[member].Addr().String() }

// Isolate lets nothing pass between the member and the others, on no connection
// that there is or will be, and tells nobody: what is sent waits, and so does the
// end of a connection. It returns false if that is so already.
func (l *Lines) Isolate(member int) (done bool) {
	l.change(member, func(w *way) { done, w.apart = !w.apart, true })
	return done
}

// Delay has everything between the member and the others arrive so much later, each
// way; between two that are delayed, by the sum.
func (l *Lines) Delay(member int, by time.Duration) {
	l.change(member, func(w *way) { w.delay = by })
}

// Throttle lets so many bytes a second pass on each connection between the member
// and the others, each way; between two that are throttled, the fewer.
func (l *Lines) Throttle(member int, rate int64) {
	l.change(member, func(w *way) { w.rate = rate })
}

// Mend takes back what was done to the member. What waited passes, and what comes,
// as far as the other is in no trouble of its own.
func (l *Lines) Mend(member int) {
	l.change(member, func(w *way) { *w = way{} })
}

func (l *Lines) change(member int, change func(*way)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(&l.ways[member])
	for other, line := range l.pairs[member] {
		if other != member {
			tune(line, l.ways[member], l.ways[other])
		}
	}
}

// tune makes a line what it is between two.
func tune(line *faults.Line, a, b way) {
	line.Delay(a.delay + b.delay)
	rate := a.rate
	if rate == 0 || b.rate > 0 && b.rate < rate {
		rate = b.rate
	}
	line.Throttle(rate)
	if a.apart || b.apart {
		line.Silence()
	} else {
		line.Speak()
	}
}

// Close ends all connections, and returns when nobody is at work on one.
func (l *Lines) Close() {
	for _, p := range l.proxies {
		p.Close()
	}
	l.mu.Lock()
	l.end()
	for c := range l.ends {
		c.Close()
	}
	for _, lines := range l.pairs {
		for _, line := range lines {
			line.Mend()
			line.Cut()
		}
	}
	l.mu.Unlock()
	l.going.Wait()
}

// hold keeps an end of a connection in mind until it is dropped, and tells whether
// there is any use in it.
func (l *Lines) hold(c net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.over:
		c.Close()
		return false
	default:
		l.ends[c] = true
		return true
	}
}

func (l *Lines) drop(c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.ends, c)
	c.Close()
}
