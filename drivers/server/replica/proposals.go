package replica

import (
	"errors"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/stampede-bench/stampede/drivers/server/codec"
	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// proposals are what the member's clients wait for. A proposal that is lost, because the leader
// changed or a message was lost, is proposed again. Each has a number, and all members apply the
// numbers of a member in their order and each once, so that a proposal that arrives twice, or before
// its predecessor, has no effect.
type proposals struct {
	queue  []proposal // not applied, in order; the first has the number done+1
	done   uint64     // number of the last one applied
	sent   int        // number of those in the queue that were proposed
	bytes  int        // of those in the queue
	live   bool       // this start of the member is registered
	asked  bool       // to register it was proposed
	idle   int        // ticks without progress
	gap    uint64     // the highest number in the log that came before its predecessor; 0 without one
	before uint64     // the start that it replaces
}

// A proposal is an entry and the function that takes its result.
type proposal struct {
	data []byte
	done func(*Applied)
}

func (p *proposals) init(m *Member) {
	p.before = m.state.origins[m.config.ID].boot
}

// add appends a proposal. The function gets the result, or nil if the result will never be known.
func (p *proposals) add(m *Member, e *entry, done func(*Applied)) {
	e.Origin, e.Boot, e.Seq = m.config.ID, m.config.Boot, p.done+uint64(len(p.queue))+1
	data := e.append(make([]byte, 0, entryLength(e)))
	p.queue = append(p.queue, proposal{data, done})
	p.bytes += len(data)
}

// entryLength is at least the length of most entries.
func entryLength(e *entry) int { return 192 + len(e.Txn.Path) + len(e.Txn.Data) + 64*len(e.Txn.Who) }

// flush proposes what was not.
func (p *proposals) flush(m *Member) {
	if m.soft.Lead == raft.None {
		return
	}
	if !p.live {
		p.register(m)
		return
	}
	for p.sent < len(p.queue) {
		entries := p.next()
		if !m.propose(entries) {
			return
		}
		p.sent += len(entries)
	}
}

// perMessage is the length in bytes at which another message begins.
const perMessage = 1 << 20

// next returns entries for one message.
func (p *proposals) next() (entries []*pb.Entry) {
	length := 0
	for _, x := range p.queue[p.sent:] {
		entries = append(entries, &pb.Entry{Data: x.data})
		if length += len(x.data); length >= perMessage {
			break
		}
	}
	return entries
}

func (p *proposals) register(m *Member) {
	if p.asked {
		return
	}
	e := entry{Kind: Register, Origin: m.config.ID, Boot: m.config.Boot, Before: p.before}
	p.asked = m.propose([]*pb.Entry{{Data: e.append(nil)}})
}

// propose reports whether raft took the entries, which does not mean that they will be committed.
func (m *Member) propose(entries []*pb.Entry) bool {
	return m.node.Step(&pb.Message{Type: pb.MsgProp.Enum(), From: new(m.config.ID), Entries: entries}) == nil
}

// registered reacts to a registration of any member.
func (p *proposals) registered(m *Member, e *entry) {
	if e.Origin != m.config.ID {
		return
	}
	p.live = e.Boot == m.config.Boot
	p.asked, p.before, p.idle = false, e.Boot, 0
}

// applied reports a proposal's result to the client that waits for it.
func (p *proposals) applied(m *Member, seq uint64, a *Applied) {
	if seq != p.done+1 || len(p.queue) == 0 {
		return // the result was given up when the state was replaced
	}
	first := p.pop()
	first.done(a)
}

func (p *proposals) pop() proposal {
	first := p.queue[0]
	p.queue[0] = proposal{}
	p.queue = p.queue[1:]
	p.bytes -= len(first.data)
	p.done++
	p.sent = max(p.sent-1, 0)
	p.idle = 0
	return first
}

// replaced gives up the results of what is applied in a state that another member sent.
func (p *proposals) replaced(m *Member) {
	o := m.state.origins[m.config.ID]
	if p.live = o.boot == m.config.Boot; !p.live {
		p.before, p.asked = o.boot, false
		return
	}
	for p.done < o.seq && len(p.queue) > 0 {
		p.pop().done(nil)
	}
}

// again makes the next flush propose everything again.
func (p *proposals) again() { p.sent, p.asked, p.idle, p.gap = 0, false, 0, 0 }

// skipped reports a proposal of this start that had no effect. If its predecessor is missing, a message
// was lost or overtaken, and the next tick proposes it again.
func (p *proposals) skipped(seq uint64) { p.gap = max(p.gap, seq) }

func (p *proposals) tick(m *Member) {
	if p.gap > p.done {
		p.again()
	}
	if len(p.queue) == 0 && p.live {
		p.idle = 0
		return
	}
	if p.idle++; p.idle >= retryTicks {
		p.again()
	}
}

// A Kind is the kind of an entry of the log.
type Kind byte

const (
	// Request is a transaction that a client requested.
	Request Kind = iota + 1
	// Open opens a session.
	Open
	// Move gives a session to the member that proposes it, for a client that reconnected there.
	Move
	// Expire closes a session whose client was not heard of. Only a leader proposes it.
	Expire
	// Reap deletes an unused container or a node whose TTL has passed. Only a leader proposes it.
	Reap
	// Compare holds a member's digest of the state after an earlier entry.
	Compare
	// Register makes a start of a member the one whose proposals are applied.
	Register
)

// An entry is the content of one entry of the log.
type entry struct {
	Kind   Kind
	Origin uint64 // the member that proposed it
	Boot   uint64 // the start of that member
	Seq    uint64 // number of the proposal since that start, from 1; 0 for kinds without one

	Session    int64
	Generation uint64 // Request, Expire: the session's generation that the proposal is for
	Txn        tree.Txn
	Term       uint64 // Expire, Reap, Compare: the term of the leader that proposed it; Compare: 0 if a follower did
	Index      uint64 // Compare: the entry whose state the digest is of
	Digest     uint64 // Compare
	Before     uint64 // Register: the start that it replaces
}

// version is the version of the entries' encoding and of the rules by which State.apply applies
// them, the first byte of each entry. A change of either must increment it.
const version = 1

func (e *entry) append(b []byte) []byte {
	b = append(b, version, byte(e.Kind))
	for _, v := range [...]uint64{e.Origin, e.Boot, e.Seq, uint64(e.Session), e.Generation, e.Term, e.Index, e.Digest, e.Before} {
		b = wire.AppendLong(b, int64(v))
	}
	return codec.AppendTxn(b, &e.Txn)
}

var errEntry = errors.New("not an entry of this version")

func decodeEntry(b []byte) (e entry, err error) {
	d := codec.NewDecoder(b)
	v := d.Byte()
	e.Kind = Kind(d.Byte())
	var session uint64
	for _, f := range [...]*uint64{&e.Origin, &e.Boot, &e.Seq, &session, &e.Generation, &e.Term, &e.Index, &e.Digest, &e.Before} {
		*f = uint64(d.Long())
	}
	e.Session = int64(session)
	e.Txn = d.Txn()
	if d.Err() != nil || v != version || e.Kind < Request || e.Kind > Register {
		return e, errEntry
	}
	return e, nil
}

// proposed reports whether the entry is a numbered proposal, which is applied once.
func (k Kind) proposed() bool { return k <= Move }

// A Line holds the requests of one client's connection and answers them in their order: a read waits
// behind the client's writes. Writes do not wait for each other, but they wait for syncs before them.
// The callbacks of a line may call its methods.
type Line struct {
	member *Member
	owner  Owner
	id     int64
	steps  []*pendingRequest
	syncs  int // among the steps and not done
	closed bool
}

// A pendingRequest is a request without an answer so far.
type pendingRequest struct {
	ready bool
	sync  bool
	start func() // proposes a write that waits for a sync
	run   func() // answers it
}

// NewLine returns the line of a connection without a session.
func (m *Member) NewLine() *Line { return &Line{member: m} }

// Open opens a session: x has its ID, time-out and password. The function gets the result, or nil if
// the result will never be known; the caller then ends the connection.
func (l *Line) Open(x tree.Txn, done func(*Applied)) { l.begin(Open, x, done) }

// Move gives the session to this member, if the password is right. x has the ID, the time-out and
// the password.
func (l *Line) Move(x tree.Txn, done func(*Applied)) { l.begin(Move, x, done) }

func (l *Line) begin(kind Kind, x tree.Txn, done func(*Applied)) {
	x.Kind = tree.OpenSession
	l.propose(&entry{Kind: kind, Session: x.Session, Txn: x}, func(a *Applied) {
		if a != nil {
			l.id, l.owner = a.Session, a.Owner
		}
		done(a)
	})
}

// Write requests a transaction of the line's session. The function is that of Open.
func (l *Line) Write(x tree.Txn, done func(*Applied)) {
	l.propose(&entry{Kind: Request, Session: l.id, Generation: l.owner.Generation, Txn: x}, done)
}

func (l *Line) propose(e *entry, done func(*Applied)) {
	s := &pendingRequest{}
	start := func() {
		l.member.proposals.add(l.member, e, func(a *Applied) {
			s.run = func() { done(a) }
			l.finish(s)
		})
	}
	l.steps = append(l.steps, s)
	if l.syncs > 0 {
		s.start = start
	} else {
		start()
	}
}

// Read calls serve when the requests before it are answered.
func (l *Line) Read(serve func()) {
	l.steps = append(l.steps, &pendingRequest{ready: true, run: serve})
	l.advance()
}

// Sync calls done when the member has applied all that was committed before the call, and the
// requests before it are answered.
func (l *Line) Sync(done func()) {
	s := &pendingRequest{sync: true, run: done}
	l.steps = append(l.steps, s)
	l.syncs++
	l.member.reads.add(func() {
		l.syncs--
		s.sync = false
		l.finish(s)
		l.startWrites()
	})
}

func (l *Line) finish(s *pendingRequest) {
	s.ready = true
	l.advance()
}

// advance answers the requests that wait for nothing any more.
func (l *Line) advance() {
	for len(l.steps) > 0 && l.steps[0].ready && !l.closed {
		run := l.steps[0].run
		l.steps[0] = nil
		l.steps = l.steps[1:]
		run()
	}
}

// startWrites proposes the writes up to the next sync.
func (l *Line) startWrites() {
	for _, s := range l.steps {
		if s.sync {
			return
		}
		if s.start != nil {
			s.start()
			s.start = nil
		}
	}
}

// Len returns the number of requests without an answer.
func (l *Line) Len() int { return len(l.steps) }

// Close gives up all answers.
func (l *Line) Close() { l.closed, l.steps = true, nil }
