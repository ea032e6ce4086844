package replica

import (
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/stampede-bench/stampede/drivers/server/codec"
	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// proposals are what the member's clients wait for. A proposal that is lost, because the leader
// changed or a message was lost, is proposed again. Each has a number, and all members apply the
// numbers of a member in their order and each once, so that a proposal that arrives twice, or before
// its predecessor, has no effect. One that its client has given up is proposed as one that does nothing from
// then on: its number must come, and which of the two comes first in the log is what all members apply.
type proposals struct {
	queue  []proposal // not applied, in order; the first has the number done+1
	done   uint64     // number of the last one applied
	sent   int        // number of those in the queue that were proposed
	bytes  int        // of those in the queue
	limit  int        // the length in bytes of an entry that every member takes
	live   bool       // this start of the member is registered
	asked  bool       // to register it was proposed
	idle   int        // ticks without progress
	gap    uint64     // the highest number in the log that came before its predecessor; 0 without one
	before uint64     // the start that it replaces
	begun  uint64     // the term in which Begin was proposed
}

// A proposal is an entry and the function that takes its result.
type proposal struct {
	data []byte
	done func(*Applied)
}

func (p *proposals) init(m *Member) {
	p.before = m.state.origins[m.config.ID].boot
	p.limit = longestEntry
}

// longestEntry is the length in bytes of the longest entry. A connection between members takes longer frames.
const longestEntry = 1 << 30

// add appends a proposal and returns its number. The function gets the result, or nil if the result will never be
// known.
func (p *proposals) add(m *Member, e *entry, done func(*Applied)) (seq uint64) {
	e.Origin, e.Boot, e.Seq = m.config.ID, m.config.Boot, p.done+uint64(len(p.queue))+1
	data := m.encode(make([]byte, 0, entryLength(e)), e)
	if len(data) > p.limit {
		e.Txn = tree.Txn{Session: e.Session, Op: tree.Op{Kind: tree.Refuse, Err: wire.ErrMarshalling}}
		data = m.encode(nil, e)
	}
	p.queue = append(p.queue, proposal{data, done})
	p.bytes += len(data)
	return e.Seq
}

// withdraw gives up the proposal of a number, if it is not applied.
func (p *proposals) withdraw(m *Member, seq uint64) {
	if seq <= p.done {
		return
	}
	x := &p.queue[seq-p.done-1]
	p.bytes -= len(x.data)
	x.data = m.encode(nil, &entry{Kind: Withdrawn, Origin: m.config.ID, Boot: m.config.Boot, Seq: seq})
	p.bytes += len(x.data)
}

// entryLength is at least the length of most entries.
func entryLength(e *entry) int { return 192 + len(e.Txn.Path) + len(e.Txn.Data) + 64*len(e.Txn.Who) }

// flush proposes what was not.
func (p *proposals) flush(m *Member) {
	if m.soft.Lead == raft.None {
		return
	}
	p.begin(m)
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

// begin gives the ensemble an identity, and the newest version that all members know, if it has none. Before that, no
// member serves, and nothing else is proposed.
func (p *proposals) begin(m *Member) {
	if !m.leads() || m.state.ensemble != 0 || p.begun == m.term {
		return
	}
	e := entry{version: m.versions.common(m), Kind: Begin, Origin: m.config.ID, Boot: m.config.Boot, Digest: m.config.Boot}
	if e.version != 0 && m.propose([]*pb.Entry{{Data: m.encode(nil, &e)}}) {
		p.begun = m.term
	}
}

func (p *proposals) register(m *Member) {
	if p.asked || m.state.version == 0 {
		return
	}
	e := entry{Kind: Register, Origin: m.config.ID, Boot: m.config.Boot, Before: p.before}
	p.asked = m.propose([]*pb.Entry{{Data: m.encode(nil, &e)}})
}

// stamp gives a leader's entries its time. The data is not changed in place: raft may hold it already.
func (m *Member) stamp(entries []*pb.Entry) {
	now := uint64(m.wall + (m.clock - m.ticked).Milliseconds())
	for _, e := range entries {
		e.Data = slices.Clone(e.GetData())
		binary.BigEndian.PutUint64(e.Data[timeAt:], now)
	}
}

// propose reports whether raft took the entries, which does not mean that they will be committed.
func (m *Member) propose(entries []*pb.Entry) bool {
	if m.leads() {
		m.stamp(entries)
	}
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

// renew encodes what waits in the version in force. What was proposed in an older one is applied all the same. If it was
// lost, it is proposed again, and the leader of then may not read the older version any more.
func (p *proposals) renew(m *Member) {
	for i := range p.queue {
		x := &p.queue[i]
		e, err := m.config.program.decode(x.data)
		if err != nil {
			panic(err) // this member has encoded it
		}
		p.bytes -= len(x.data)
		e.version = m.state.version
		x.data = m.encode(nil, &e)
		p.bytes += len(x.data)
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
	// Withdrawn stands for a proposal that its client has given up.
	Withdrawn
	// Expire closes a session whose client was not heard of. Only a leader proposes it.
	Expire
	// Reap deletes an unused container or a node whose TTL has passed. Only a leader proposes it.
	Reap
	// Compare holds a member's digest of the state after an earlier entry.
	Compare
	// Register makes a start of a member the one whose proposals are applied.
	Register
	// Begin gives the ensemble its identity, and brings the version that it is written in into force. Only the first
	// one has an effect.
	Begin
	// Raise brings the version that it is written in into force, if that is newer. Only a leader proposes it.
	Raise
)

// An entry is the content of one entry of the log.
type entry struct {
	version byte // in which it is encoded; 0 before that

	Kind   Kind
	Time   int64  // in milliseconds since 1970, by the clock of the leader; 0 before a leader has taken it
	Origin uint64 // the member that proposed it
	Boot   uint64 // the start of that member
	Seq    uint64 // number of the proposal since that start, from 1; 0 for kinds without one

	Session    int64
	Generation uint64 // Request, Expire: the session's generation that the proposal is for
	Txn        tree.Txn
	Term       uint64 // Expire, Reap, Raise, Compare: the term of the leader that proposed it; Compare: 0 if a follower did
	Index      uint64 // Compare: the entry whose state the digest is of
	Digest     uint64 // Compare; Begin: the identity
	Before     uint64 // Register: the start that it replaces
}

// appendFields adds what an entry has besides its version, its kind and its time, in version 2.
func appendFields(b []byte, e entry) []byte {
	for _, v := range [...]uint64{e.Origin, e.Boot, e.Seq, uint64(e.Session), e.Generation, e.Term, e.Index, e.Digest, e.Before} {
		b = wire.AppendLong(b, int64(v))
	}
	return codec.AppendTxn(b, &e.Txn)
}

func decodeFields(b []byte) (e entry, err error) {
	d := codec.NewDecoder(b)
	var session uint64
	for _, f := range [...]*uint64{&e.Origin, &e.Boot, &e.Seq, &session, &e.Generation, &e.Term, &e.Index, &e.Digest, &e.Before} {
		*f = uint64(d.Long())
	}
	e.Session = int64(session)
	e.Txn = d.Txn()
	return e, d.Err()
}

var errEntry = errors.New("not an entry of the log")

// proposed reports whether the entry is a numbered proposal, which is applied once.
func (k Kind) proposed() bool { return k <= Withdrawn }

// A Line holds the requests of one client's connection and answers them in their order: a read waits
// behind the client's writes. Writes do not wait for each other, but they wait for syncs before them.
// The callbacks of a line may call its methods.
type Line struct {
	member *Member
	owner  Owner
	id     int64
	until  time.Duration // the session lives at least until then, see leases
	steps  []*pendingRequest
	syncs  int  // among the steps and not done
	asking bool // whether the session lives
	closed bool
}

// A pendingRequest is a request without an answer so far.
type pendingRequest struct {
	ready bool
	sync  bool
	read  bool   // its answer needs a session that lives
	start func() // proposes a write that waits for a sync or for a confirmation
	run   func() // answers it
	lose  func() // of a write: says that its result will never be known
	seq   uint64 // the number of its proposal; 0 without one
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
	asked := l.member.clock
	l.propose(&entry{Kind: kind, Session: x.Session, Txn: x}, func(a *Applied) {
		if a != nil {
			l.id, l.owner = a.Session, a.Owner
			l.extend(asked)
			if !l.closed && a.Result.Err == wire.OK {
				l.member.leases.lines[l.id] = l
			}
		}
		done(a)
	})
}

// Write requests a transaction of the line's session. The function is that of Open.
func (l *Line) Write(x tree.Txn, done func(*Applied)) {
	l.propose(&entry{Kind: Request, Session: l.id, Generation: l.owner.Generation, Txn: x}, done)
}

func (l *Line) propose(e *entry, done func(*Applied)) {
	s := &pendingRequest{lose: func() { done(nil) }}
	start := func() {
		s.seq = l.member.proposals.add(l.member, e, func(a *Applied) {
			s.run = func() { done(a) }
			l.finish(s)
		})
	}
	l.steps = append(l.steps, s)
	if l.syncs > 0 || l.asking {
		s.start = start
	} else {
		start()
	}
}

// extend notes that the session's lease was extended after a time.
func (l *Line) extend(after time.Duration) {
	l.until = max(l.until, after+time.Duration(l.owner.Timeout)*time.Millisecond*2/3)
}

// Ready reports whether a read can be answered now: no request comes before it, and the session lives.
func (l *Line) Ready() bool { return len(l.steps) == 0 && l.lives() }

func (l *Line) lives() bool { return l.member.clock < l.until }

// Read calls serve when the requests before it are answered and the member knows that the session lives.
func (l *Line) Read(serve func()) {
	l.steps = append(l.steps, &pendingRequest{ready: true, read: true, run: serve})
	l.advance()
}

// Sync calls done when the member has applied all that was committed before the call, and the
// requests before it are answered.
func (l *Line) Sync(done func()) {
	s := &pendingRequest{sync: true, run: done}
	l.steps = append(l.steps, s)
	l.syncs++
	l.member.reads.add(question{done: []func(){func() {
		l.syncs--
		s.sync = false
		l.finish(s)
		l.startWrites()
	}}})
}

// confirm asks whether the session lives before the first step, a read, is answered. If a write behind it
// was proposed, its answer could be older than the read's then, so the connection must end.
func (l *Line) confirm() {
	proposed := func(s *pendingRequest) bool { return s.lose != nil && s.start == nil }
	if i := slices.IndexFunc(l.steps, proposed); i >= 0 {
		l.steps[i].lose()
		return
	}
	l.asking = true
	l.member.reads.add(question{sessions: []int64{l.id}, done: []func(){func() {
		l.asking = false
		l.advance()
		l.startWrites()
	}}})
}

func (l *Line) finish(s *pendingRequest) {
	s.ready = true
	l.advance()
}

// advance answers the requests that wait for nothing any more.
func (l *Line) advance() {
	for len(l.steps) > 0 && l.steps[0].ready && !l.closed {
		if l.steps[0].read && !l.lives() {
			if !l.asking {
				l.confirm()
			}
			return
		}
		run := l.steps[0].run
		l.steps[0] = nil
		l.steps = l.steps[1:]
		run()
	}
}

// startWrites proposes the writes up to the next sync, unless a read before them waits for a confirmation.
func (l *Line) startWrites() {
	if l.asking {
		return
	}
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

// Close gives up all answers, and the requests that are not in the log.
func (l *Line) Close() {
	for _, s := range l.steps {
		if s != nil && s.seq > 0 {
			l.member.proposals.withdraw(l.member, s.seq)
		}
	}
	l.closed, l.steps = true, nil
	if lines := l.member.leases.lines; lines[l.id] == l {
		delete(lines, l.id)
	}
}
