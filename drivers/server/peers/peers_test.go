package peers

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/stampede-bench/stampede/drivers/server/replica"
	"github.com/stampede-bench/stampede/internal/await"
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
		c := Config{ID: uint64(i + 1), Addresses: addresses, Member: p.members[i], Dial: p.dial,
			Ensemble: func() uint64 { return 0 }, Versions: same, Report: func(_ uint64, err error) {
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
func (p *pair) heartbeat(t *testing.T) (got replica.Message) {
	t.Helper()
	x := replica.Message{From: 1, To: 2, Raft: &pb.Message{Type: pb.MsgHeartbeat.Enum(), From: new(uint64(1)), To: new(uint64(2)), Term: new(uint64(3))}}
	await.True(t, "a heartbeat arrives", func() bool {
		p.peers[0].Send([]replica.Message{x})
		select {
		case got = <-p.members[1].got:
			return true
		default: // the connection may not be there yet
			return false
		}
	})
	return got
}

// same returns the versions of members whose programs are the same.
func same() replica.Versions { return replica.Versions{Oldest: 2, Newest: 2} }

func secret(i int, c *Config) { c.Secret = []byte("sixteen bytes or more") }

func TestMessagesArrive(t *testing.T) {
	for name, change := range map[string]func(int, *Config){"secret": secret, "none": func(int, *Config) {}} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t, change)
			if got := p.heartbeat(t); got.Raft.GetTerm() != 3 || got.From != 1 {
				t.Errorf("got %+v", got)
			}
			sent := []replica.Message{
				{From: 1, To: 2, Newest: 2, Raft: &pb.Message{Type: pb.MsgReadIndex.Enum(), From: new(uint64(1)), To: new(uint64(2)),
					Entries: []*pb.Entry{{Data: []byte("question")}}}},
				{From: 1, To: 2, Newest: 2, Weak: true, Raft: &pb.Message{Type: pb.MsgVoteResp.Enum(), From: new(uint64(1)), To: new(uint64(2)), Term: new(uint64(9))}},
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
// TestStrangersAreRefused lets two members meet that do not belong together. Both sides say why.
func TestStrangersAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(i int, c *Config)
		want   string
		sides  int // that say it
	}{
		"another secret": {func(i int, c *Config) { c.Secret = []byte(strings.Repeat(string(rune('a'+i)), 20)) }, errSecret.Error(), 1},
		"no secret":      {func(i int, c *Config) { c.Secret = [][]byte{nil, []byte("sixteen bytes or more")}[i] }, errSecret.Error(), 1},
		"other members": {func(i int, c *Config) {
			if i == 1 {
				c.Addresses = map[uint64]string{1: c.Addresses[1], 2: c.Addresses[2], 3: "127.0.0.1:1"}
			}
		}, "members 1 and 2 have different members in --peers", 2},
		"another ensemble": {func(i int, c *Config) { c.Ensemble = func() uint64 { return uint64(0xab + i) } },
			"member 1 has a directory of ensemble 00000000000000ab, and member 2 of ensemble 00000000000000ac", 2},
		"an older program": {versions(replica.Versions{Oldest: 2, Newest: 2, InForce: 2}, replica.Versions{Oldest: 2, Newest: 3, InForce: 3}),
			"member 1 reads the log up to version 2, and member 2 writes version 3: update member 1 first", 2},
		"an older program in a new directory": {versions(replica.Versions{Oldest: 2, Newest: 3, InForce: 3}, replica.Versions{Oldest: 2, Newest: 2}),
			"member 2 reads the log up to version 2, and member 1 writes version 3: update member 2 first", 2},
		"an update that left out a program": {versions(replica.Versions{Oldest: 3, Newest: 4}, replica.Versions{Oldest: 2, Newest: 3, InForce: 2}),
			"member 1 reads the log from version 3 on, and member 2 writes version 2: update all members to a program that reads both first", 2},
		"programs that have nothing in common": {versions(replica.Versions{Oldest: 4, Newest: 5}, replica.Versions{Oldest: 2, Newest: 3}),
			"member 2 reads the log up to version 3, and member 1 writes version 4: update member 2 first", 2},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t, c.change)
			p.refuses(t, c.want, c.sides)
		})
	}
}

// refuses waits until the members have said why they refuse each other, one of them or both. No message arrives meanwhile.
func (p *pair) refuses(t *testing.T, want string, sides int) {
	t.Helper()
	said := map[bool]bool{} // by whether the other one said so
	x := &pb.Message{Type: pb.MsgHeartbeat.Enum(), From: new(uint64(1))}
	await.True(t, "it is refused: "+want, func() bool {
		p.peers[0].Send([]replica.Message{{From: 1, To: 2, Raft: x}})
		select {
		case err := <-p.errs:
			if strings.Contains(err.Error(), want) {
				said[strings.Contains(err.Error(), "it refuses this member: ")] = true
			}
		case <-p.members[1].got:
			t.Fatal("a message arrived")
		default:
		}
		return len(said) >= sides
	})
}

func versions(all ...replica.Versions) func(int, *Config) {
	return func(i int, c *Config) { c.Versions = func() replica.Versions { return all[i] } }
}

// TestVersionsOverlap connects two members that each read the version in force at the other. A message that arrives says
// the newest version that its sender knows.
func TestVersionsOverlap(t *testing.T) {
	for name, all := range map[string][2]replica.Versions{
		"the same":           {{Oldest: 2, Newest: 2, InForce: 2}, {Oldest: 2, Newest: 2, InForce: 2}},
		"one is newer":       {{Oldest: 2, Newest: 3, InForce: 2}, {Oldest: 2, Newest: 2, InForce: 2}},
		"one is older":       {{Oldest: 1, Newest: 2, InForce: 2}, {Oldest: 2, Newest: 3, InForce: 2}},
		"one lags behind":    {{Oldest: 2, Newest: 3, InForce: 2}, {Oldest: 2, Newest: 3, InForce: 3}},
		"one has no state":   {{Oldest: 3, Newest: 4}, {Oldest: 2, Newest: 3, InForce: 3}},
		"none has a state":   {{Oldest: 3, Newest: 4}, {Oldest: 2, Newest: 3}},
		"only one in common": {{Oldest: 2, Newest: 3, InForce: 3}, {Oldest: 3, Newest: 4, InForce: 3}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t, versions(all[:]...))
			if got := p.heartbeat(t); got.Newest != all[0].Newest {
				t.Errorf("the sender knows version %d, as it seems, want %d", got.Newest, all[0].Newest)
			}
		})
	}
}

// TestGreetingsAreRefused greets as no member does.
func TestGreetingsAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		greeting []byte
		want     string
	}{
		"another protocol": {[]byte("stampede peer 1\n and what it had"), "the other side is no member of this version of the protocol"},
		"another version": {(&hello{from: 1, to: 2, versions: replica.Versions{Oldest: 2, Newest: 3, InForce: 3}, members: checksum([]uint64{1, 2}),
			purpose: messages}).append(nil), "member 2 reads the log up to version 2, and member 1 writes version 3: update member 2 first"},
		"another member": {(&hello{from: 1, to: 3, versions: same(), members: checksum([]uint64{1, 2})}).append(nil),
			"member 1 looks for member 3, and found member 2: --peers has other addresses there"},
		"its own number": {(&hello{from: 2, to: 2, versions: same(), members: checksum([]uint64{1, 2})}).append(nil),
			"another process says that it is member 2"},
		"a number of no member": {(&hello{from: 4, to: 2, versions: same(), members: checksum([]uint64{1, 2})}).append(nil),
			"a caller has a number that is none of those in --peers"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t, func(int, *Config) {})
			conn, err := net.Dial("tcp", p.peers[0].config.Addresses[2])
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			l := newLink(conn)
			if err := l.send(greeting, c.greeting); err != nil {
				t.Fatal(err)
			}
			_, err = l.answer(greetingAnswer)
			if err == nil {
				_, err = l.answer(nothing)
			}
			if want := "it refuses this member: " + c.want; err == nil || err.Error() != want {
				t.Errorf("%v, want %q", err, want)
			}
		})
	}
}

// TestACallerProvesTheSecretFirst greets members with a secret as anybody can. A member says nothing about itself
// then, and nothing about the member whose number the caller takes, and keeps one reason however many numbers are
// tried.
func TestACallerProvesTheSecretFirst(t *testing.T) {
	p := newPair(t, func(i int, c *Config) {
		secret(i, c)
		c.Ensemble = func() uint64 { return 0xab }
	})
	p.heartbeat(t)
	called := p.peers[1]
	for number := range uint64(50) {
		conn, err := net.Dial("tcp", called.config.Addresses[2])
		if err != nil {
			t.Fatal(err)
		}
		l := newLink(conn)
		h := hello{from: number, to: 2, versions: same(), ensemble: 0xcd, members: checksum([]uint64{1, 2}), purpose: messages}
		if err := l.send(greeting, h.append(nil)); err != nil {
			t.Fatal(err)
		}
		if _, err := l.answer(greetingAnswer); err != nil {
			t.Errorf("before its proof the caller learns: %v", err)
		}
		if err := l.send(proof, make([]byte, 32)); err != nil {
			t.Fatal(err)
		}
		if _, err := l.answer(nothing); !errors.Is(err, errSilent) {
			t.Errorf("after a wrong proof the caller learns: %v", err)
		}
		conn.Close()
	}
	called.mu.Lock()
	defer called.mu.Unlock()
	if len(called.said) != 1 || called.said[direction{}] != errSecret.Error() {
		t.Errorf("it keeps %v, want %v of callers that are no members", called.said, errSecret)
	}
}

// TestAClientsPortIsNamed lets a member's address be one at which connections are closed without a word, as at a
// port for clients.
func TestAClientsPortIsNamed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, longestGreeting))
			c.Close()
		}
	}()
	p := newPair(t, func(i int, c *Config) {
		if i == 0 {
			c.Addresses = map[uint64]string{1: c.Addresses[1], 2: l.Addr().String()}
		}
	})
	if err := <-p.errs; !errors.Is(err, errSilent) {
		t.Errorf("%v, want %v", err, errSilent)
	}
}

// TestOneProcessIsAMember greets as member 1 while that sends messages, from another process and from its own. When it has
// been silent for two idle frames, another process may have taken its place.
func TestOneProcessIsAMember(t *testing.T) {
	p := newPair(t, func(int, *Config) {})
	p.heartbeat(t)
	greets := func(process uint64) error {
		conn, err := net.Dial("tcp", p.peers[0].config.Addresses[2])
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		h := hello{from: 1, to: 2, versions: same(), members: checksum([]uint64{1, 2}), purpose: snapshot, process: process}
		return newLink(conn).greet(&h, nil)
	}
	const want = "it refuses this member: member 1 runs already: another process has its number"
	if err := greets(4711); err == nil || err.Error() != want {
		t.Errorf("%v, want %q", err, want)
	}
	if err := greets(p.peers[0].number); err != nil {
		t.Errorf("the member's own process: %v", err)
	}
	p.peers[0].Close()
	for err := greets(4711); err != nil; err = greets(4711) { // until its end is noticed
		if err.Error() != want {
			t.Fatalf("a process that takes the place of the one that has ended: %v", err)
		}
	}
}

// TestAProposalIsPassedOn sends a proposal of member 3 by the connection of member 1, as a member does that has lost the
// lead since it was sent. The connection stays open; another message of member 3 ends it.
func TestAProposalIsPassedOn(t *testing.T) {
	p := newPair(t, func(int, *Config) {})
	p.heartbeat(t)
	from3 := func(kind pb.MessageType) []replica.Message {
		return []replica.Message{{From: 1, To: 2, Raft: &pb.Message{Type: kind.Enum(), From: new(uint64(3)), To: new(uint64(2))}}}
	}
	p.peers[0].Send(from3(pb.MsgProp))
	for got := range p.members[1].got {
		if got.Raft.GetType() == pb.MsgProp {
			break
		}
	}
	p.peers[0].Send(from3(pb.MsgHeartbeat))
	if id := <-p.members[1].lost; id != 1 {
		t.Errorf("the connection of member %d ended, want that of 1", id)
	}
	if err := <-p.errs; err.Error() != "message of member 3" {
		t.Errorf("%v, want that a message of member 3 came", err)
	}
}

// TestMemoryOfFrames announces a long frame and sends nothing: that takes no memory.
func TestMemoryOfFrames(t *testing.T) {
	a, b := net.Pipe()
	l := newLink(b)
	l.longest = longestFrame
	go func() {
		a.Write([]byte{0x40, 0, 0, 0, raftMessage})
		a.Close()
	}()
	if _, _, err := l.read(); !errors.Is(err, io.ErrUnexpectedEOF) || cap(l.buf) > 2*step {
		t.Errorf("%v with a buffer of %d bytes, want the end of the stream with at most %d", err, cap(l.buf), 2*step)
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
			to.write(raftMessage, []byte("12345678"))
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

// TestAReasonIsReportedOnce fails to connect again and again: that is one report until the reason is another.
func TestAReasonIsReportedOnce(t *testing.T) {
	attempts := make(chan error)
	p := newPair(t, func(i int, c *Config) {
		c.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
			if i == 1 {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			select {
			case err := <-attempts:
				return nil, err
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
	})
	cut, full := errors.New("no route"), errors.New("no port is free")
	for _, err := range []error{cut, cut, cut, full, full, cut, cut, full} { // the last is not reported yet, maybe
		attempts <- err
	}
	for i, want := range []error{cut, full, cut} {
		if got := <-p.errs; !errors.Is(got, want) {
			t.Errorf("report %d: %v, want %v", i+1, got, want)
		}
	}
}

// A closed is a connection that knows whether it was closed.
type closed struct {
	net.Conn
	is bool
}

func (c *closed) Close() error {
	c.is = true
	return nil
}

// TestStrangersAreBounded opens more connections than may be open without a greeting, after some that have greeted. The oldest
// of those that have not are closed, and no others.
func TestStrangersAreBounded(t *testing.T) {
	p := &Peers{}
	var all []*closed
	for i := range mostStrangers + 12 {
		c := &closed{}
		all = append(all, c)
		p.addStranger(c)
		if i < 2 {
			if err := p.greeted(c); err != nil {
				t.Error(err)
			}
		}
	}
	for i, c := range all {
		want := i >= 2 && i < 12
		if c.is != want {
			t.Errorf("connection %d of %d is closed: %v, want %v", i+1, len(all), c.is, want)
		}
		if err := p.greeted(c); i >= 2 && (err != nil) != want {
			t.Errorf("connection %d greets: %v", i+1, err)
		}
	}
	if len(p.strangers) != 0 {
		t.Errorf("%d connections are left without a greeting, want none", len(p.strangers))
	}
}
