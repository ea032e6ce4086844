package between

import (
	"fmt"
	"net"
	"sync"

	"github.com/stampede-bench/stampede/drivers/faults"
)

// Lines are what the members of an ensemble, counted from 0, reach each other
// through.
type Lines struct {
	proxies []net.Listener
	homes   map[string]home // by port
	gates   [][]*faults.Gate
	dial    func(address string) (net.Conn, error)

	mu     sync.Mutex
	apart  []bool            // which are isolated
	ends   map[net.Conn]bool // of connections there are
	closed bool

	going sync.WaitGroup
}

// A home is where a member listens.
type home struct {
	member  int
	address string
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
		homes: make(map[string]home), apart: make([]bool, len(members)), ends: make(map[net.Conn]bool),
		dial: func(address string) (net.Conn, error) { return net.Dial("tcp", address) },
	}
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
		l.gates = append(l.gates, make([]*faults.Gate, len(members)))
		for j := range i + 1 {
			g := new(faults.Gate)
			l.gates[i][j], l.gates[j][i] = g, g
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
func (l *Lines) Isolate(member int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.apart[member] {
		return false
	}
	l.apart[member] = true
	for other, g := range l.gates[member] {
		if other != member {
			g.Shut()
		}
	}
	return true
}

// Rejoin lets pass what waited, and what comes, but for what is between the member
// and others that are isolated. It returns false if the member is not.
func (l *Lines) Rejoin(member int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.apart[member] {
		return false
	}
	l.apart[member] = false
	for other, g := range l.gates[member] {
		if !l.apart[other] {
			g.Open()
		}
	}
	return true
}

// Close ends all connections, and returns when nobody is at work on one.
func (l *Lines) Close() {
	for _, p := range l.proxies {
		p.Close()
	}
	l.mu.Lock()
	l.closed = true
	for c := range l.ends {
		c.Close()
	}
	for _, gates := range l.gates {
		for _, g := range gates {
			g.Open()
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
	if l.closed {
		c.Close()
		return false
	}
	l.ends[c] = true
	return true
}

func (l *Lines) drop(c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.ends, c)
	c.Close()
}
