package partition

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/cluster/faults"
)

// Links are the proxies between the members of an ensemble. Members are numbered from 0.
type Links struct {
	proxies   []net.Listener
	listeners map[string]listener // members' addresses, by port
	from      [][]*faults.Link    // by the member that calls and the one that is called
	dial      func(address string) (net.Conn, error)

	mu       sync.Mutex
	faultsOf []memberFaults    // faults of each member
	ends     map[net.Conn]bool // ends of open connections

	over  <-chan struct{} // closed by Close
	end   context.CancelFunc
	going sync.WaitGroup
}

// A listener is an address at which a member listens.
type listener struct {
	member  int
	address string
}

// A memberFaults holds the faults between a member and all others.
type memberFaults struct {
	apart drivers.Direction // in which nothing passes
	delay time.Duration
	rate  int64
}

// New opens the proxies between the members. Each member listens at one or more addresses,
// host:port. No two members may use the same port.
func New(members [][]string) (*Links, error) {
	l, err := newLinks(members)
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

// newLinks returns the links without proxies.
func newLinks(members [][]string) (*Links, error) {
	l := &Links{
		listeners: make(map[string]listener), faultsOf: make([]memberFaults, len(members)), ends: make(map[net.Conn]bool),
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
			if other, taken := l.listeners[port]; taken {
				return nil, fmt.Errorf("members %d and %d listen at port %s: want a port each", other.member, i, port)
			}
			l.listeners[port] = listener{i, a}
		}
		l.from = append(l.from, nil)
		for range members {
			l.from[i] = append(l.from[i], new(faults.Link))
		}
	}
	return l, nil
}

// Proxy returns the address, host:port, of the member's proxy. The proxy ignores the host name of a
// request and uses only the port.
func (l *Links) Proxy(member int) string { return l.proxies[member].Addr().String() }

// Isolate blocks all traffic between the member and the others in the directions, as the member sees
// them, without closing a connection: data and the end of a connection are held back. A new
// connection, which takes both directions, waits. It returns false if the member is already isolated
// in the directions.
func (l *Links) Isolate(member int, d drivers.Direction) (done bool) {
	l.change(member, func(w *memberFaults) { done, w.apart = w.apart&d != d, w.apart|d })
	return done
}

// Delay delays all traffic between the member and the others by the given time, in each direction.
// Between two delayed members, the delays add up.
func (l *Links) Delay(member int, by time.Duration) {
	l.change(member, func(w *memberFaults) { w.delay = by })
}

// Throttle limits each connection between the member and the others to rate bytes a second, in each
// direction. Between two throttled members, the lower rate applies.
func (l *Links) Throttle(member int, rate int64) {
	l.change(member, func(w *memberFaults) { w.rate = rate })
}

// Restore removes the member's faults. Held-back and new data passes, unless the other member has
// faults of its own.
func (l *Links) Restore(member int) {
	l.change(member, func(w *memberFaults) { *w = memberFaults{} })
}

func (l *Links) change(member int, change func(*memberFaults)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(&l.faultsOf[member])
	for other := range l.from {
		if other != member {
			tune(l.from[member][other], l.faultsOf[member], l.faultsOf[other])
			tune(l.from[other][member], l.faultsOf[other], l.faultsOf[member])
		}
	}
}

// tune sets a link to the combined faults of its caller and the member that is called.
func tune(link *faults.Link, caller, called memberFaults) {
	link.Delay(caller.delay + called.delay)
	rate := caller.rate
	if rate == 0 || called.rate > 0 && called.rate < rate {
		rate = called.rate
	}
	link.Throttle(rate)
	link.Silence(caller.apart | called.apart.Reverse())
}

// Close closes all connections and returns when all goroutines have ended.
func (l *Links) Close() {
	for _, p := range l.proxies {
		p.Close()
	}
	l.mu.Lock()
	l.end()
	for c := range l.ends {
		c.Close()
	}
	for _, links := range l.from {
		for _, link := range links {
			link.Restore()
			link.Cut()
		}
	}
	l.mu.Unlock()
	l.going.Wait()
}

// hold registers an end of a connection until drop. If the links are closed, it closes the end and
// returns false.
func (l *Links) hold(c net.Conn) bool {
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

func (l *Links) drop(c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.ends, c)
	c.Close()
}

// serve accepts a member's outgoing connections.
func (l *Links) serve(proxy net.Listener, caller int) {
	for {
		c, err := proxy.Accept()
		if err != nil {
			return
		}
		l.going.Go(func() { l.join(caller, c) })
	}
}

// join connects a caller to the member that it requests, and returns when the connection has ended.
// While the two are isolated, the caller gets no answer, as from an unreachable host, and the
// callee is not dialed.
func (l *Links) join(caller int, near net.Conn) {
	if !l.hold(near) {
		return
	}
	defer l.drop(near)
	port, err := receive(near)
	if err != nil {
		return
	}
	callee, known := l.listeners[port]
	if !known {
		near.Write(reply(forbidden))
		return
	}
	link := l.from[caller][callee.member]
	if !link.Cross(l.over) {
		return
	}
	far, err := l.dial(callee.address)
	if err != nil {
		near.Write(reply(refused))
		return
	}
	if !l.hold(far) {
		return
	}
	defer l.drop(far)
	if !link.Cross(l.over) {
		return
	}
	if _, err := near.Write(reply(granted)); err != nil {
		return
	}
	link.Join(near, far)
}

// The values of RFC 1928 that are used here.
const (
	version = 5
	connect = 1 // the command

	toIPv4 = 1 // address types
	toName = 3
	toIPv6 = 4

	granted   = 0 // reply codes
	forbidden = 2
	refused   = 5
)

var errStranger = errors.New("want a SOCKS5 client that connects without a name and a password")

// receive reads a SOCKS5 request and returns the requested port. It ignores the host, because all
// members run on this one.
func receive(c net.Conn) (port string, err error) {
	var hello [2]byte // version and number of authentication methods
	if _, err := io.ReadFull(c, hello[:]); err != nil {
		return "", err
	}
	if _, err := io.CopyN(io.Discard, c, int64(hello[1])); err != nil {
		return "", err
	}
	if hello[0] != version {
		return "", errStranger
	}
	if _, err := c.Write([]byte{version, 0}); err != nil { // no authentication
		return "", err
	}
	var request [4]byte // version, command, reserved, address type
	if _, err := io.ReadFull(c, request[:]); err != nil {
		return "", err
	}
	if request[0] != version || request[1] != connect {
		return "", errStranger
	}
	if err := skipHost(c, request[3]); err != nil {
		return "", err
	}
	var n [2]byte
	if _, err := io.ReadFull(c, n[:]); err != nil {
		return "", err
	}
	return strconv.Itoa(int(binary.BigEndian.Uint16(n[:]))), nil
}

func skipHost(c net.Conn, kind byte) error {
	size := int64(0)
	switch kind {
	case toIPv4:
		size = net.IPv4len
	case toIPv6:
		size = net.IPv6len
	case toName:
		var n [1]byte
		if _, err := io.ReadFull(c, n[:]); err != nil {
			return err
		}
		size = int64(n[0])
	default:
		return errStranger
	}
	_, err := io.CopyN(io.Discard, c, size)
	return err
}

// reply returns a reply with the code and no bound address.
func reply(what byte) []byte { return []byte{version, what, 0, toIPv4, 0, 0, 0, 0, 0, 0} }
