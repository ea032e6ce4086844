package replica

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"
)

// A Config configures a member.
type Config struct {
	ID      uint64
	Members []uint64 // the IDs of all members, which never change
	// Storage holds the member's log. The member only reads it; what it must hold further is in
	// Output.Appends.
	Storage raft.Storage
	// State is the state of the last snapshot in the storage, or NewState without one. The member
	// owns it.
	State *State
	// Joining is true if the log was empty when the member first started with it, until Member.Joining
	// is false.
	Joining bool
	// Boot is a random number that no other start of any member has.
	Boot uint64
	// Handler receives what the member applies.
	Handler Handler
	// Logger logs elections and the like; nil logs nothing.
	Logger raft.Logger
	// CompareEvery is the number of entries after which members compare digests; 0 means 4096.
	CompareEvery uint64

	program *program // nil means this one
}

// The member's times in ticks.
const (
	heartbeatTicks = 1
	// ElectionTicks is the number of ticks without the leader after which a member may call an
	// election. A leader that has not heard of a majority for as long steps down.
	ElectionTicks = 15
	// retryTicks is the number of ticks without progress after which a member proposes again.
	retryTicks = 2 * ElectionTicks
)

// longestTick is the most that one tick adds to the time by which sessions expire. A member that was
// frozen has not heard of clients, so the time does not count.
const longestTick = 250 * time.Millisecond

// A Handler receives what a member applies. Its methods are called during the calls of the member
// and must not call the member's methods, except those that Line documents.
type Handler interface {
	// Apply reports a transaction that has changed the member's state. If the member's own client
	// waits for it, the client's callback is called after it.
	Apply(a *Applied)
	// Suspend ends the service: the member does not know that it keeps up with the leader, or its state was
	// replaced by a later one. The caller ends the connections of all clients.
	Suspend()
	// Report says what an operator must know, such as why the service ends, in words that follow the
	// member's name.
	Report(what string)
}

// A Message is a message between members.
type Message struct {
	From, To uint64
	Raft     *pb.Message
	// Weak is set in a vote of a member that is joining.
	Weak bool
	// Newest is the newest version that the sender knows. It is a part of the greeting, not of each message.
	Newest byte
}

// An Append is what must be written to the log. When it is on disk, the caller passes it to Saved.
type Append struct {
	State    *pb.HardState // nil if unchanged
	Entries  []*pb.Entry   // they replace those with the same or higher indexes
	Snapshot *pb.Snapshot  // replaces the log if it is not nil; only the metadata is set
	// MustSync is false if it may be lost.
	MustSync  bool
	responses []*pb.Message
}

// Output is what the caller does for a member: it sends the messages, in any order and any number of
// times, and writes the appends, in their order.
type Output struct {
	Messages []Message
	Appends  []Append
}

// A Member is one member of an ensemble.
type Member struct {
	config  Config
	node    *raft.RawNode
	state   *State
	handler Handler
	out     Output
	clock   time.Duration // of the last Tick or Look
	ticked  time.Duration // time of the last Tick
	now     time.Duration // in which the member ran, see longestTick
	wall    int64         // of the last Tick
	soft    raft.SoftState
	term    uint64
	err     error

	proposals proposals
	reads     reads
	leases    leases
	compare   comparison
	service   service
	disk      disk
	votes     votes
	versions  versions
	ticks     int
	behind    [2]uint64      // what was committed one to two election time-outs ago, and at most one ago
	heard     map[uint64]int // in which tick each other member was last heard of
	last      uint64         // index of the last entry
	agreed    agreed
	lost      lost
	refused   map[uint64]string // why the last message of each member was refused
	elections int64
	led       uint64 // the term of the last leader that was counted
	campaign  int    // ticks until an early election, 0 without one
}

// New starts a member at the state of its storage. The first Flush applies what the storage shows to be
// committed.
func New(c Config) (*Member, error) {
	if !slices.Contains(c.Members, c.ID) {
		return nil, fmt.Errorf("member %d is not among the members %d", c.ID, c.Members)
	}
	c.CompareEvery, c.program = cmp.Or(c.CompareEvery, 4096), cmp.Or(c.program, current)
	c.State.program = c.program
	if c.Logger == nil {
		c.Logger = silent{}
	}
	node, err := raft.NewRawNode(&raft.Config{
		ID: c.ID, ElectionTick: ElectionTicks, HeartbeatTick: heartbeatTicks,
		Storage: fixed{c.Storage, c.Members}, Applied: c.State.index, AsyncStorageWrites: true,
		MaxSizePerMsg: 1 << 20, MaxCommittedSizePerReady: 4 << 20, MaxInflightMsgs: 256, MaxInflightBytes: 64 << 20,
		MaxUncommittedEntriesSize: 256 << 20,
		CheckQuorum:               true, PreVote: true, Logger: c.Logger,
	})
	if err != nil {
		return nil, err
	}
	m := &Member{config: c, node: node, state: c.State, handler: c.Handler,
		heard: map[uint64]int{}, refused: map[uint64]string{}}
	m.term = node.BasicStatus().GetTerm()
	if m.last, err = c.Storage.LastIndex(); err != nil {
		return nil, err
	}
	if err := m.versions.init(m); err != nil {
		return nil, err
	}
	m.proposals.init(m)
	m.leases.init(m)
	m.compare.init(m)
	m.reads.init(m)
	m.votes.init(m)
	return m, nil
}

// fixed is a storage with members that never change.
type fixed struct {
	raft.Storage
	members []uint64
}

func (f fixed) InitialState() (*pb.HardState, *pb.ConfState, error) {
	h, _, err := f.Storage.InitialState()
	return h, &pb.ConfState{Voters: f.members}, err
}

// State returns the member's state. It changes with the calls of the member's methods.
func (m *Member) State() *State { return m.state }

// Err returns the reason why the member must not continue, or nil.
func (m *Member) Err() error { return m.err }

// Tick reports the time: now never goes back and may begin anywhere, and wall is in milliseconds since
// 1970. It is called at even intervals.
func (m *Member) Tick(now time.Duration, wall int64) {
	m.now += min(now-m.ticked, longestTick)
	m.Look(now)
	m.ticked, m.wall = now, wall
	m.ticks++
	if m.ticks%ElectionTicks == 0 {
		m.behind = [2]uint64{m.behind[1], m.node.BasicStatus().GetCommit()}
	}
	if !m.disk.hangs(m) || m.leads() {
		m.node.Tick()
	}
	if m.campaign > 0 && !m.disk.hangs(m) {
		if m.campaign--; m.campaign == 0 && m.soft.Lead == raft.None {
			m.node.Campaign()
		}
	}
	m.drain()
	m.disk.tick(m)
	m.service.tick(m)
	m.proposals.tick(m)
	m.leases.tick(m)
	m.versions.tick(m)
	m.handOver()
	m.Flush()
}

// Step takes a message from another member.
func (m *Member) Step(x Message) {
	if why := m.refusal(x.Raft); why != "" {
		if m.refused[x.From] != why { // each reason once in a row
			m.refused[x.From] = why
			m.handler.Report(fmt.Sprintf("refuses a message of member %d: %s", x.From, why))
		}
		return
	}
	m.heard[x.From], m.versions.newest[x.From] = m.ticks, x.Newest
	switch {
	case x.Raft.GetType() == pb.MsgProp && m.leads():
		m.stamp(x.Raft.GetEntries())
	case x.Raft.GetType() == pb.MsgReadIndex && !m.leases.questioned(m, x.Raft):
		return
	case x.Raft.GetType() == pb.MsgTimeoutNow && m.disk.hangs(m):
		return
	case x.Raft.GetType() == pb.MsgTransferLeader:
		m.makeWay(x.Raft)
		return
	}
	if m.hasLost(x.Raft) {
		m.lost.askForAnotherLeader(m, x.Raft)
		return
	}
	if isVote(x.Raft) {
		for _, vote := range m.votes.arrived(x, len(m.config.Members)) {
			m.node.Step(vote)
		}
	} else {
		m.node.Step(x.Raft)
	}
	m.drain()
}

// refusal returns why a message cannot come from a member of this version and this history, or "". Raft would
// commit what nobody can apply, and panics where histories differ that it relies on.
func (m *Member) refusal(x *pb.Message) string {
	switch x.GetType() {
	case pb.MsgProp:
		for _, e := range x.GetEntries() {
			p, err := m.config.program.decode(e.GetData())
			if err != nil || e.GetType() != pb.EntryNormal {
				return "it proposes what is no entry of a version that this member reads"
			}
			if force := max(m.state.version, m.versions.written); m.leads() && p.version > force {
				return fmt.Sprintf("it proposes an entry of version %d, and version %d is in force", p.version, force)
			}
		}
	case pb.MsgAppResp:
		if m.leads() && x.GetTerm() == m.term && !x.GetReject() && x.GetIndex() > m.last {
			return fmt.Sprintf("it has entry %d, and the last one of the leader is entry %d: its directory has another history",
				x.GetIndex(), m.last)
		}
	case pb.MsgApp:
		if x.GetTerm() >= m.term {
			m.compareHistory(x)
			m.checkVersions(x)
		}
	}
	if m.err != nil {
		return m.err.Error()
	}
	return ""
}

// compareHistory stops the member if the leader has other entries than those that the member has applied.
func (m *Member) compareHistory(x *pb.Message) {
	differs := func(index, term uint64) bool {
		if index > m.state.index {
			return false
		}
		own, err := m.config.Storage.Term(index)
		if err != nil || own == term {
			return false
		}
		m.err = fmt.Errorf("entry %d is of term %d, and that of the leader, member %d, of term %d: one of the two directories "+
			"has another history: remove this one if the others are right", index, own, x.GetFrom(), term)
		return true
	}
	if differs(x.GetIndex(), x.GetLogTerm()) {
		return
	}
	for _, e := range x.GetEntries() {
		if e.GetIndex() > m.state.index || differs(e.GetIndex(), e.GetTerm()) {
			return
		}
	}
}

// checkVersions stops the member before it writes an entry that it cannot read.
func (m *Member) checkVersions(x *pb.Message) {
	for _, e := range x.GetEntries() {
		if err := m.readable(e); err != nil && m.err == nil {
			m.err = err
		}
	}
}

// hasLost reports whether a heartbeat shows that the leader relies on entries that this member has confirmed and does not have
// any more, because its directory was removed or is a copy. The leader tells a member only what that has confirmed to be
// committed. A member that began with such a directory cannot compare entries by their index: the copy may have others there,
// which were never committed.
func (m *Member) hasLost(x *pb.Message) bool {
	if x.GetType() != pb.MsgHeartbeat || x.GetTerm() < m.term {
		return false
	}
	last, err := m.config.Storage.LastIndex()
	if m.config.Joining {
		last = m.agreed.last(x.GetTerm())
	}
	return err == nil && x.GetCommit() > last
}

// lost is what a member does that has lost what the leader of a term relies on: the next leader assumes nothing of it.
type lost struct {
	term  uint64
	since int // in which tick that was first noticed
}

// askForAnotherLeader asks the leader to hand over, so that the others serve on. One that has not done it for an election
// time-out steps down.
func (l *lost) askForAnotherLeader(m *Member, x *pb.Message) {
	if l.term != x.GetTerm() {
		*l = lost{x.GetTerm(), m.ticks}
	}
	if m.ticks-l.since >= ElectionTicks {
		m.stepDown(x.GetTerm())
		m.drain()
		return
	}
	m.send(&pb.Message{Type: pb.MsgTransferLeader.Enum(), From: new(m.config.ID), To: x.From, Term: new(x.GetTerm())})
}

// makeWay hands over to another member than the one that asks for it.
func (m *Member) makeWay(x *pb.Message) {
	if m.leads() && x.GetTerm() == m.term && m.node.Status().LeadTransferee == raft.None {
		m.transfer(x.GetFrom())
	}
}

// agreed is up to which entry this start of the member has confirmed to have the same log as the leader of a term.
type agreed struct{ term, index uint64 }

func (a *agreed) sent(x *pb.Message) {
	if x.GetType() == pb.MsgAppResp && !x.GetReject() {
		*a = agreed{x.GetTerm(), max(x.GetIndex(), a.last(x.GetTerm()))}
	}
}

func (a *agreed) last(term uint64) uint64 {
	if a.term != term {
		return 0
	}
	return a.index
}

// Lost reports that the connection to a member broke. If it is the leader, the member calls an
// election without waiting for the leader's silence.
//
// Note: only members that lost the leader as well vote in it, so that a broken connection alone
// deposes no leader. The members do it one after the other, so that they do not split the votes.
func (m *Member) Lost(id uint64) {
	delete(m.versions.newest, id)
	if id != m.soft.Lead || id == m.config.ID {
		m.node.ReportUnreachable(id)
		return
	}
	m.node.ForgetLeader()
	m.campaign = 1 + slices.Index(m.config.Members, m.config.ID)
	m.drain()
}

// SnapshotSent reports whether a message with a snapshot reached the member.
func (m *Member) SnapshotSent(to uint64, ok bool) {
	status := raft.SnapshotFinish
	if !ok {
		status = raft.SnapshotFailure
	}
	m.node.ReportSnapshot(to, status)
	m.drain()
}

// Saved reports that an Append is on disk. If it has a snapshot, s is the snapshot's state. Appends
// are reported in their order.
func (m *Member) Saved(a *Append, s *State) {
	m.disk.confirmed(m)
	if a.Snapshot != nil {
		m.replace(s)
	}
	for _, r := range a.responses {
		if r.GetTo() == m.config.ID {
			m.node.Step(r)
		} else {
			m.send(r)
		}
	}
	m.drain()
}

// replace replaces the state by a later one. Clients cannot be told of what happened in between.
func (m *Member) replace(s *State) {
	m.state, s.program = s, m.config.program
	m.service.suspend(m, "it was so far behind that it got a snapshot")
	m.proposals.replaced(m)
	m.proposals.renew(m)
	m.leases.reset(m)
	m.compare.reset()
}

// Take returns what there is to do since the last Take. Flush comes before it.
func (m *Member) Take() Output {
	out := m.out
	m.out = Output{}
	return out
}

// Flush proposes what clients have requested since the last Flush, in one message.
func (m *Member) Flush() {
	m.proposals.flush(m)
	m.reads.flush(m)
	m.drain()
}

func (m *Member) send(x *pb.Message) {
	m.votes.sent(x)
	m.agreed.sent(x)
	m.out.Messages = append(m.out.Messages, Message{From: m.config.ID, To: x.GetTo(), Raft: x, Weak: m.votes.isWeak(x), Newest: m.config.program.newest()})
}

// drain carries out what raft is ready for.
func (m *Member) drain() {
	for m.node.HasReady() {
		ready := m.node.Ready()
		if ready.HardState != nil && ready.HardState.GetTerm() != 0 {
			m.term = ready.HardState.GetTerm()
		}
		if ready.SoftState != nil {
			m.turn(*ready.SoftState)
		}
		for _, r := range ready.ReadStates {
			m.reads.confirmed(r)
		}
		for _, x := range ready.Messages {
			m.carryOut(x, &ready)
		}
	}
	m.reads.serve(m)
}

func (m *Member) carryOut(x *pb.Message, ready *raft.Ready) {
	switch x.GetTo() {
	case raft.LocalAppendThread:
		a := Append{Entries: x.GetEntries(), MustSync: ready.MustSync || len(x.GetResponses()) > 0, responses: x.GetResponses()}
		if x.Term != nil {
			a.State = &pb.HardState{Term: new(x.GetTerm()), Vote: new(x.GetVote()), Commit: new(x.GetCommit())}
		}
		if !raft.IsEmptySnap(x.GetSnapshot()) {
			a.Snapshot = x.GetSnapshot()
			m.last = a.Snapshot.GetMetadata().GetIndex()
		}
		if n := len(a.Entries); n > 0 {
			m.last = a.Entries[n-1].GetIndex()
		}
		for _, e := range a.Entries {
			m.versions.wrote(e)
		}
		m.out.Appends = append(m.out.Appends, a)
		m.disk.added(m)
	case raft.LocalApplyThread:
		for _, e := range x.GetEntries() {
			m.apply(e)
		}
		for _, r := range x.GetResponses() {
			m.node.Step(r)
		}
	default:
		m.send(x)
	}
}

// turn reacts to another leader or another role.
func (m *Member) turn(s raft.SoftState) {
	was := m.soft
	m.soft = s
	if s.Lead != was.Lead && s.Lead != raft.None {
		if term := m.node.BasicStatus().GetTerm(); term != m.led {
			m.led = term
			m.elections++
		}
		m.campaign = 0
	}
	if s.RaftState == raft.StateLeader && was.RaftState != raft.StateLeader {
		m.leases.reset(m)
		clear(m.versions.newest) // it hears of all others anew
	}
	if was.RaftState == raft.StateLeader && s.RaftState != raft.StateLeader {
		m.leases.stop()
	}
	m.proposals.again()
	m.reads.again()
}

// leads reports whether the member is the leader.
func (m *Member) leads() bool { return m.soft.RaftState == raft.StateLeader }

func (m *Member) apply(x *pb.Entry) {
	if m.err != nil {
		return
	}
	if len(x.GetData()) == 0 { // of a new leader
		m.state.index, m.state.term = x.GetIndex(), x.GetTerm()
		return
	}
	e, err := m.config.program.decode(x.GetData())
	if err != nil {
		m.err = fmt.Errorf("entry %d of the log: %w", x.GetIndex(), err)
		return
	}
	was := m.state.version
	a, effective := m.state.apply(x.GetIndex(), x.GetTerm(), &e)
	if was != 0 && m.state.version != was {
		m.proposals.renew(m)
		m.handler.Report(fmt.Sprintf("writes version %d of the log from entry %d on, which programs that read up to version %d cannot read",
			m.state.version, x.GetIndex(), was))
	}
	switch own := e.Origin == m.config.ID && e.Boot == m.config.Boot; {
	case effective:
		m.applied(&e, &a)
	case own && e.Kind.proposed():
		m.proposals.skipped(e.Seq)
	}
	m.compare.passed(m, x.GetIndex())
}

func (m *Member) applied(e *entry, a *Applied) {
	switch e.Kind {
	case Register:
		m.proposals.registered(m, e)
		return
	case Compare:
		m.err = m.compare.proposed(m, e)
		return
	case Withdrawn:
		if e.Origin == m.config.ID && e.Boot == m.config.Boot {
			m.proposals.applied(m, e.Seq, nil)
		}
		return
	}
	m.leases.applied(m, a)
	m.handler.Apply(a)
	if e.Kind.proposed() && e.Origin == m.config.ID && e.Boot == m.config.Boot {
		m.proposals.applied(m, e.Seq, a)
	}
}

// silent is a raft.Logger that logs nothing. Raft panics where its log is damaged.
type silent struct{}

func (silent) Debug(...any)            {}
func (silent) Debugf(string, ...any)   {}
func (silent) Info(...any)             {}
func (silent) Infof(string, ...any)    {}
func (silent) Warning(...any)          {}
func (silent) Warningf(string, ...any) {}
func (silent) Error(...any)            {}
func (silent) Errorf(string, ...any)   {}
func (silent) Fatal(v ...any)          { panic(fmt.Sprint(v...)) }
func (silent) Fatalf(f string, v ...any) {
	panic(fmt.Sprintf(f, v...))
}
func (silent) Panic(v ...any)            { panic(fmt.Sprint(v...)) }
func (silent) Panicf(f string, v ...any) { panic(fmt.Sprintf(f, v...)) }
