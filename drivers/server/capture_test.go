package server_test

import (
	"bytes"
	"errors"
	"flag"
	"net"
	"os"
	"sync"
	"testing"

	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/wire"
	"github.com/stampede-bench/stampede/drivers/wire/captured"
)

var capture = flag.Bool("capture", false, "record the packets of other clients for package captured")

// apacheFor starts an Apache ZooKeeper for the test of a client, which uses it from the root. With
// -capture the client connects through a recorder.
func apacheFor(t *testing.T, client string) (address string) {
	t.Helper()
	address = backendtest.ZooKeeper(t, "")
	if !*capture {
		return address
	}
	r := newRecorder(t, address)
	t.Cleanup(func() { r.save(t, "../wire/captured/packets/"+client+".txt") })
	return r.listener.Addr().String()
}

// A recorder relays connections and keeps packets of kinds that it has seen few of.
type recorder struct {
	listener net.Listener
	server   string
	relays   sync.WaitGroup

	mu      sync.Mutex
	packets []captured.Packet
	alike   map[likeness]int
}

// A likeness is a kind of packet, of which a few samples are enough.
type likeness struct {
	request bool
	op      int32
	err     wire.Err
}

const (
	few   = 6       // samples kept of each kind
	large = 2 << 10 // bytes; larger packets are not kept
)

func newRecorder(t *testing.T, server string) *recorder {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{listener: l, server: server, alike: map[likeness]int{}}
	r.relays.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			r.serve(client)
		}
	})
	return r
}

func (r *recorder) serve(client net.Conn) {
	server, err := net.Dial("tcp", r.server)
	if err != nil {
		client.Close()
		return
	}
	s := &conversation{asked: map[int32][]int32{}}
	r.relays.Go(func() { r.relay(client, server, s.request) })
	r.relays.Go(func() { r.relay(server, client, s.reply) })
}

// relay forwards packets after it has determined the kind of each.
func (r *recorder) relay(from, to net.Conn, kind func(payload []byte) likeness) {
	defer to.Close()
	frames := wire.NewFrames(from, wire.MaxPacket, large)
	for {
		payload, err := frames.Next()
		if err != nil {
			return
		}
		r.keep(kind(payload), payload)
		packet := append(wire.Begin(nil), payload...)
		wire.End(packet, 0)
		if _, err := to.Write(packet); err != nil {
			return
		}
	}
}

func (r *recorder) keep(l likeness, payload []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.alike[l] < few && len(payload) < large {
		r.alike[l]++
		r.packets = append(r.packets, captured.Packet{Request: l.request, Op: l.op, Payload: bytes.Clone(payload)})
	}
}

func (r *recorder) save(t *testing.T, file string) {
	r.listener.Close()
	r.relays.Wait()
	var b bytes.Buffer
	if err := errors.Join(captured.Write(&b, r.packets), os.WriteFile(file, b.Bytes(), 0o666)); err != nil {
		t.Error(err)
	}
}

// A conversation is the state of one connection that is needed to determine the next packet's kind.
type conversation struct {
	mu     sync.Mutex
	opened [2]bool           // by the client, and by the server
	asked  map[int32][]int32 // opcodes of unanswered requests, by xid
}

func (c *conversation) request(payload []byte) likeness {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.opened[0] {
		c.opened[0] = true
		return likeness{request: true, op: wire.OpCreateSession}
	}
	var h wire.RequestHeader
	d := wire.NewDecoder(payload)
	h.Decode(&d)
	c.asked[h.Xid] = append(c.asked[h.Xid], h.Op)
	return likeness{request: true, op: h.Op}
}

func (c *conversation) reply(payload []byte) likeness {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.opened[1] {
		c.opened[1] = true
		return likeness{op: wire.OpCreateSession}
	}
	var h wire.ReplyHeader
	d := wire.NewDecoder(payload)
	h.Decode(&d)
	l := likeness{op: wire.OpNotify, err: h.Err}
	if ops := c.asked[h.Xid]; len(ops) > 0 {
		l.op, c.asked[h.Xid] = ops[0], ops[1:]
	}
	return l
}
