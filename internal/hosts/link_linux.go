package hosts

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// A Delay is how long packets take in each direction.
type Delay struct{ There, Back time.Duration }

// Link lets processes on the host reach the address, host:port of the machine's loopback, under the same
// address. What they send and receive is delayed. The network is "tcp" or "udp".
func (h *Host) Link(t *testing.T, network, address string, d Delay) {
	t.Helper()
	var err error
	switch network {
	case "tcp":
		err = h.linkTCP(t, address, d)
	case "udp":
		err = h.linkUDP(t, address, d)
	default:
		err = net.UnknownNetworkError(network)
	}
	if err != nil {
		t.Fatalf("link a host to %s %s: %v", network, address, err)
	}
}

// linkTCP relays connections until the test ends.
func (h *Host) linkTCP(t *testing.T, address string, d Delay) error {
	var l net.Listener
	err := h.inNamespace(func() (err error) {
		l, err = net.Listen("tcp", address)
		return err
	})
	if err != nil {
		return err
	}
	var relays sync.WaitGroup
	relays.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return // it is closed
			}
			relays.Go(func() { relay(t.Context(), near, address, d) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		relays.Wait()
	})
	return nil
}

// relay relays a connection to the address until both ends have closed it, or the context ends.
func relay(ctx context.Context, near net.Conn, address string, d Delay) {
	defer near.Close()
	far, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return // the other end sees that the connection is closed
	}
	defer far.Close()
	defer context.AfterFunc(ctx, func() { _ = errors.Join(near.Close(), far.Close()) })()
	var both sync.WaitGroup
	both.Go(func() { forward(far, near, d.There) })
	both.Go(func() { forward(near, far, d.Back) })
	both.Wait()
}

// A chunk is what has been read at once, and when it has to be written.
type chunk struct {
	due  time.Time
	data []byte
}

// inFlight is how many chunks may be under way in one direction.
const inFlight = 1024

// forward copies what comes from one connection to the other, after the delay, and then the end.
func forward(to, from net.Conn, delay time.Duration) {
	under := make(chan chunk, inFlight)
	go func() {
		defer close(under)
		for {
			data := make([]byte, 64<<10)
			n, err := from.Read(data)
			if n > 0 {
				under <- chunk{time.Now().Add(delay), data[:n]}
			}
			if err != nil {
				return
			}
		}
	}()
	var failed error
	for c := range under {
		<-time.After(time.Until(c.due))
		if failed == nil {
			_, failed = to.Write(c.data)
		}
		if failed != nil {
			_ = from.Close() // so that no more is read
		}
	}
	if end, ok := to.(interface{ CloseWrite() error }); ok {
		_ = end.CloseWrite()
	}
}

// linkUDP relays packets until the test ends. Each sender has a socket of its own towards the address.
func (h *Host) linkUDP(t *testing.T, address string, d Delay) error {
	var near net.PacketConn
	err := h.inNamespace(func() (err error) {
		near, err = net.ListenPacket("udp", address)
		return err
	})
	if err != nil {
		return err
	}
	var relays sync.WaitGroup
	relays.Go(func() { relayPackets(&relays, near, address, d) })
	t.Cleanup(func() {
		_ = near.Close()
		relays.Wait()
	})
	return nil
}

// relayPackets relays packets until near is closed.
func relayPackets(relays *sync.WaitGroup, near net.PacketConn, address string, d Delay) {
	senders := map[string]net.Conn{}
	defer func() {
		for _, far := range senders {
			_ = far.Close()
		}
	}()
	for {
		data := make([]byte, 64<<10)
		n, from, err := near.ReadFrom(data)
		if err != nil {
			return
		}
		far := senders[from.String()]
		if far == nil {
			if far, err = net.Dial("udp", address); err != nil {
				return
			}
			senders[from.String()] = far
			relays.Go(func() { answer(near, from, far, d.Back) })
		}
		runAfter(d.There, func() { _, _ = far.Write(data[:n]) }) // a packet may be lost
	}
}

// answer relays the answers to one sender until far is closed.
func answer(near net.PacketConn, to net.Addr, far io.Reader, delay time.Duration) {
	for {
		data := make([]byte, 64<<10)
		n, err := far.Read(data)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		runAfter(delay, func() { _, _ = near.WriteTo(data[:n], to) })
	}
}

func runAfter(delay time.Duration, f func()) {
	if delay == 0 {
		f()
		return
	}
	time.AfterFunc(delay, f)
}
