package peers

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/stampede-bench/stampede/drivers/server/replica"
)

// A member keeps what arrives.
type member struct {
	got   chan replica.Message
	lost  chan uint64
	sent  chan bool
	parts chan string
	shot  string // the snapshot that it sends
}

func newMember() *member {
	return &member{got: make(chan replica.Message, 100), lost: make(chan uint64, 100), sent: make(chan bool, 10), parts: make(chan string, 10)}
}

func (m *member) Receive(all []replica.Message) {
	for _, x := range all {
		m.got <- x
	}
}
func (m *member) Lost(id uint64)                 { m.lost <- id }
func (m *member) SnapshotSent(_ uint64, ok bool) { m.sent <- ok }
func (m *member) Snapshot() (Snapshot, error)    { return shown{strings.NewReader(m.shot)}, nil }
func (m *member) Store(x replica.Message, r io.Reader) error {
	b := make([]byte, len(shotText))
	if _, err := io.ReadFull(r, b); err != nil {
		return err
	}
	m.parts <- string(b)
	m.got <- x
	return nil
}

type shown struct{ *strings.Reader }

func (shown) Metadata() *pb.SnapshotMetadata { return &pb.SnapshotMetadata{Index: new(uint64(7))} }
func (shown) Close() error                   { return nil }

var shotText = strings.Repeat("snapshot ", 100_000) // several parts

// A pair is two connected members.
type pair struct {
	members [2]*member
	peers   [2]*Peers
	errs    chan error
	mu      sync.Mutex
	conns   []net.Conn // that were dialed
}

func newPair(t *testing.T, change func(i int, c *Config)) *pair {
	t.Helper()
	p := &pair{errs: make(chan error, 100)}
	addresses := map[uint64]string{}
	var listeners [2]net.Listener
	for i := range listeners {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		listeners[i], addresses[uint64(i+1)] = l, l.Addr().String()
	}
	for i := range listeners {
		p.members[i] = newMember()
		c := Config{ID: uint64(i + 1), Addresses: addresses, Member: p.members[i], Dial: p.dial, Report: func(_ uint64, err error) {
			select {
			case p.errs <- err:
			default:
			}
		}}
		change(i, &c)
		p.peers[i] = Start(c, listeners[i])
		t.Cleanup(p.peers[i].Close)
	}
	return p
}

func (p *pair) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err == nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.conns = append(p.conns, c)
	}
	return c, err
}

// heartbeat sends messages until one arrives, because those without a connection are dropped.
func (p *pair) heartbeat(t *testing.T) replica.Message {
	t.Helper()
	x := replica.Message{From: 1, To: 2, Raft: &pb.Message{Type: pb.MsgHeartbeat.Enum(), From: new(uint64(1)), To: new(uint64(2)), Term: new(uint64(3))}}
	for {
		p.peers[0].Send([]replica.Message{x})
		select {
		case got := <-p.members[1].got:
			return got
		case <-time.After(10 * time.Millisecond): // the connection may not be there yet
		}
	}
}

func secret(i int, c *Config) { c.Secret = []byte("sixteen bytes or more") }

func TestMessagesArrive(t *testing.T) {
	for name, change := range map[string]func(int, *Config){"secret": secret, "none": func(int, *Config) {}} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t, change)
			if got := p.heartbeat(t); got.Raft.GetTerm() != 3 || got.From != 1 {
				t.Errorf("got %+v", got)
			}
			sent := []replica.Message{
				{From: 1, To: 2, Touched: []int64{5, -1}},
				{From: 1, To: 2, Weak: true, Raft: &pb.Message{Type: pb.MsgVoteResp.Enum(), From: new(uint64(1)), To: new(uint64(2)), Term: new(uint64(9))}},
			}
			p.peers[0].Send(sent)
			var got []replica.Message
			for len(got) < len(sent) {
				if x := <-p.members[1].got; x.Raft.GetType() != pb.MsgHeartbeat {
					got = append(got, x)
				}
			}
			if diff := cmp.Diff(sent, got, protocmp.Transform()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSnapshotArrives(t *testing.T) {
	p := newPair(t, secret)
	p.heartbeat(t)
	p.members[0].shot = shotText
	p.peers[0].Send([]replica.Message{{From: 1, To: 2, Raft: &pb.Message{Type: pb.MsgSnap.Enum(), From: new(uint64(1)), To: new(uint64(2)),
		Snapshot: &pb.Snapshot{Metadata: &pb.SnapshotMetadata{Index: new(uint64(5))}}}}})
	if got := <-p.members[1].parts; got != shotText {
		t.Errorf("%d bytes arrived, want %d", len(got), len(shotText))
	}
	for x := range p.members[1].got {
		if x.Raft.GetType() == pb.MsgSnap {
			if index := x.Raft.GetSnapshot().GetMetadata().GetIndex(); index != 7 {
				t.Errorf("the message says index %d, and the snapshot has 7", index)
			}
			break
		}
	}
	if !<-p.members[0].sent {
		t.Error("the sender was told of a failure")
	}
}

// A broken connection is reported on both sides, and another one takes its place.
func TestLostConnection(t *testing.T) {
	p := newPair(t, secret)
	p.heartbeat(t)
	p.mu.Lock()
	for _, c := range p.conns {
		c.Close()
	}
	p.mu.Unlock()
	if a, b := <-p.members[0].lost, <-p.members[1].lost; a != 2 || b != 1 {
		t.Errorf("lost %d and %d, want 2 and 1", a, b)
	}
	p.heartbeat(t)
}

// Members with different secrets or members refuse each other.
func TestStrangersAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(i int, c *Config)
		want   error
	}{
		"another secret": {func(i int, c *Config) { c.Secret = []byte(strings.Repeat(string(rune('a'+i)), 20)) }, errSecret},
		"no secret":      {func(i int, c *Config) { c.Secret = [][]byte{nil, []byte("sixteen bytes or more")}[i] }, errSecret},
		"other members": {func(i int, c *Config) {
			if i == 1 {
				c.Addresses = map[uint64]string{1: c.Addresses[1], 2: c.Addresses[2], 3: "127.0.0.1:1"}
			}
		}, errMembers},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t, c.change)
			for err := range p.errs {
				if errors.Is(err, c.want) {
					break
				}
			}
			p.peers[0].Send([]replica.Message{{From: 1, To: 2, Touched: []int64{1}}})
			if len(p.members[1].got) > 0 {
				t.Error("a message arrived")
			}
		})
	}
}

// A frame that was changed or repeated on its way ends the connection.
func TestChangedFramesAreRefused(t *testing.T) {
	for name, change := range map[string]func(frame []byte) []byte{
		"changed":  func(b []byte) []byte { b[5] ^= 1; return b },
		"repeated": func(b []byte) []byte { return append(b, b...) },
	} {
		t.Run(name, func(t *testing.T) {
			a, b := net.Pipe()
			key := []byte("sixteen bytes or more")
			to, from := newLink(a), newLink(b)
			to.protect(key, "sender", "receiver", nil, nil)
			from.protect(key, "receiver", "sender", nil, nil)
			from.longest = longestFrame
			var frame strings.Builder
			to.to.Reset(&frame)
			to.write(touch, []byte("12345678"))
			to.flush()
			go a.Write(change([]byte(frame.String())))
			_, _, err := from.read()
			if err == nil {
				_, _, err = from.read()
			}
			if !errors.Is(err, errFrame) {
				t.Errorf("%v, want %v", err, errFrame)
			}
		})
	}
}

// Without a certificate nobody acts as a member.
func TestTLSNeedsACertificate(t *testing.T) {
	p := newPair(t, func(i int, c *Config) {
		if i == 1 {
			c.Server = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert}
		}
	})
	for err := range p.errs {
		if err != nil {
			break
		}
	}
	if len(p.members[1].got) > 0 {
		t.Error("a message arrived")
	}
}
