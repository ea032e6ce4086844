package replica

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"
	"go.etcd.io/raft/v3/tracker"
)

// service decides whether the member serves clients. It does while a confirmation holds: the leader took
// a question of this member, a majority confirmed after that that it led, and the member has applied
// what was committed by then. A confirmation is as old as its question, and holds for MaxAge. So the
// service ends whether the leader does not hear the member, the member does not hear the leader, it
// does not keep up, its disk hangs, it was stopped, or it was the leader and is not.
type service struct {
	on        bool
	confirmed time.Duration // when the newest question with a confirmation was asked
	asked     int           // in which tick the last question was asked for the service
	waits     bool          // it has no confirmation so far
	served    bool          // it was on at some time
	told      string        // what was reported last of why the member has not served yet
}

const (
	// MaxAge is the age of a confirmation from which on it does not hold any more.
	MaxAge = 3 * time.Second
	// askTicks is the number of ticks between questions, and patientTicks the number after which the
	// member asks again without a confirmation.
	askTicks     = 2
	patientTicks = 5
	// explainTicks is the number of ticks after which a member that has not served says why, and says it again if the
	// reason is another one by then: members that start together serve earlier.
	explainTicks = 50
)

// Serving reports whether the member serves clients. The caller refuses new clients otherwise.
func (m *Member) Serving() bool { return m.service.on }

// Look reports the time, like Tick. The caller looks at the clock before each call that can answer a
// client: a member that was stopped must not answer before it knows for how long.
func (m *Member) Look(now time.Duration) {
	m.clock = max(m.clock, now)
	if s := &m.service; s.on && m.clock-s.confirmed >= MaxAge {
		s.suspend(m, m.obstacle())
	}
}

func (s *service) tick(m *Member) {
	if !s.served && m.ticks%explainTicks == 0 {
		if why := m.lack(); why != s.told {
			s.told = why
			m.handler.Report("serves no clients yet: " + why)
		}
	}
	since := m.ticks - s.asked
	if m.soft.Lead == raft.None || since < askTicks || s.waits && since < patientTicks {
		return
	}
	s.asked, s.waits = m.ticks, true
	m.reads.forget(m.clock - MaxAge)
	m.reads.add(question{sessions: m.leases.unconfirmed(m.clock)})
}

// confirm takes note of a confirmation.
func (s *service) confirm(m *Member, asked time.Duration) {
	s.confirmed, s.waits = max(s.confirmed, asked), false
	if s.on || m.clock-asked >= MaxAge || m.state.ensemble == 0 {
		return
	}
	s.on, s.served = true, true
	m.votes.joining = false
	m.handler.Report("serves clients")
}

func (s *service) suspend(m *Member, why string) {
	if s.on {
		s.on = false
		m.handler.Report("serves no clients: " + why)
	}
	m.handler.Suspend()
}

// lack returns why the member has never had a confirmation.
func (m *Member) lack() string {
	var silent []string
	for _, id := range m.config.Members {
		if id != m.config.ID && !m.hears(id) {
			silent = append(silent, fmt.Sprint(id))
		}
	}
	unheard := "it hears of all others"
	switch len(silent) {
	case 0:
	case 1:
		unheard = "it does not hear of member " + silent[0]
	default:
		unheard = "it does not hear of members " + strings.Join(silent, ", ")
	}
	switch {
	case m.soft.Lead != raft.None:
		return m.obstacle()
	case m.votes.joining:
		return unheard + "; until a member leads, one with an empty or restored directory needs all others"
	}
	return unheard + ", and a majority must agree on a leader"
}

// obstacle returns why the member has no confirmation.
func (m *Member) obstacle() string {
	late := (m.clock - m.service.confirmed).Round(10 * time.Millisecond)
	committed := m.node.BasicStatus().GetCommit()
	switch {
	case m.clock-m.ticked >= MaxAge:
		return fmt.Sprintf("it did not run for %v", (m.clock - m.ticked).Round(10*time.Millisecond))
	case m.disk.hangs(m) && committed > m.state.index:
		return fmt.Sprintf("its disk confirms no write: it has applied entry %d, and %d is committed", m.state.index, committed)
	case m.soft.Lead == raft.None:
		return fmt.Sprintf("it knows of no leader, and the last one answered %v ago", late)
	case m.reads.answered():
		return fmt.Sprintf("it is %v behind: it has applied entry %d, and %d is committed", late, m.state.index, committed)
	case m.leads():
		return fmt.Sprintf("no majority has answered for %v", late)
	}
	return fmt.Sprintf("member %d, the leader, does not answer: it last did %v ago", m.soft.Lead, late)
}

// disk is what the member knows of its disk.
type disk struct {
	waiting int // appends that are not confirmed
	since   int // the tick of the last confirmation, or in which the first of them was asked for
	said    bool
	tries   int // to give up the lead since then
	tried   int // in which tick it was last tried
}

func (d *disk) added(m *Member) {
	if d.waiting++; d.waiting == 1 {
		d.since = m.ticks
	}
}

func (d *disk) confirmed(m *Member) {
	if d.said {
		m.handler.Report(fmt.Sprintf("its disk confirms writes again, after %d ticks", m.ticks-d.since))
	}
	*d = disk{waiting: d.waiting - 1, since: m.ticks}
}

// hangs reports whether the disk has confirmed nothing for an election time-out. A member whose disk hangs
// calls no election, and a leader hands over to a member that could write what it could not.
func (d *disk) hangs(m *Member) bool { return d.waiting > 0 && m.ticks-d.since >= ElectionTicks }

func (d *disk) tick(m *Member) {
	if !d.hangs(m) {
		return
	}
	if !d.said {
		d.said = true
		m.handler.Report(fmt.Sprintf("its disk has confirmed no write for %d ticks", m.ticks-d.since))
	}
	if !m.leads() || m.node.BasicStatus().GetCommit() <= m.state.index {
		return
	}
	if d.tries > 0 && m.ticks-d.tried < ElectionTicks {
		return
	}
	d.tries, d.tried = d.tries+1, m.ticks
	if d.tries == 1 {
		m.handler.Report("hands over: a majority writes what its own disk does not")
		m.transfer()
		return
	}
	m.handler.Report("steps down: a majority writes what its own disk does not")
	m.stepDown(m.term)
	m.drain()
}

// stepDown makes the leader of a term, this member or another, step down: this member goes on to the next term.
func (m *Member) stepDown(term uint64) {
	own := m.config.ID
	m.node.Step(&pb.Message{Type: pb.MsgAppResp.Enum(), From: new(own), To: new(own), Term: new(term + 1)})
}

// handOver makes another member the leader when the zxids of the term run out, so that a new term
// begins.
func (m *Member) handOver() {
	left := m.state.counter - uint32(m.state.tree.Zxid())
	if !m.leads() || int64(m.state.tree.Zxid()>>32) != int64(m.term) || left > min(math.MaxUint16, m.state.counter/4) {
		return
	}
	m.transfer()
}

// hears reports whether another member was heard of within an election time-out.
func (m *Member) hears(id uint64) bool {
	at, heard := m.heard[id]
	return heard && m.ticks-at <= ElectionTicks
}

// transfer makes the member the leader that has the most entries, but none of those excepted.
func (m *Member) transfer(except ...uint64) {
	var next, match uint64
	for id, p := range m.node.Status().Progress {
		if m.hears(id) && !slices.Contains(except, id) && (p.Match > match || p.Match == match && id < next) {
			next, match = id, p.Match
		}
	}
	if next != 0 {
		m.node.TransferLeader(next)
		m.drain()
	}
}

// Pending returns the number and the bytes of what the member's clients have requested and what is not
// applied.
func (m *Member) Pending() (count, bytes int) { return len(m.proposals.queue), m.proposals.bytes }

// A Status is what a member knows of the ensemble.
type Status struct {
	ID        uint64
	Leader    uint64 // 0 if there is none
	Role      string // "leader", "follower" or "candidate"
	Term      uint64
	Version   byte   // in force; 0 if there is none yet
	Committed uint64 // index of the last committed entry that the member knows of
	Applied   uint64
	Pending   int   // proposals of the member's clients that are not applied
	Elections int64 // leaders that the member has seen since it started
	// Followers and Synced are the numbers of other members that a leader heard of lately, and of those
	// among them that have on disk what was committed one to two election time-outs ago.
	Followers, Synced int
	Members           int
}

// Status returns the member's status.
func (m *Member) Status() Status {
	b := m.node.BasicStatus()
	s := Status{ID: m.config.ID, Leader: b.Lead, Role: "follower", Term: b.GetTerm(), Version: m.state.version, Committed: b.GetCommit(), Applied: m.state.index,
		Pending: len(m.proposals.queue), Elections: m.elections, Members: len(m.config.Members)}
	switch b.RaftState {
	case raft.StateLeader:
		s.Role = "leader"
		m.countFollowers(&s)
	case raft.StateCandidate, raft.StatePreCandidate:
		s.Role = "candidate"
	}
	return s
}

func (m *Member) countFollowers(s *Status) {
	m.node.WithProgress(func(id uint64, _ raft.ProgressType, p tracker.Progress) {
		if !m.hears(id) {
			return
		}
		s.Followers++
		if p.State == tracker.StateReplicate && p.Match >= m.behind[0] {
			s.Synced++
		}
	})
}

// votes protect what was committed from members that have lost their log. A member whose log was empty
// when it started, because it is new or its directory was removed, is joining until it has applied all
// that was committed: it may have confirmed entries that it does not have any more. Its vote, and the
// election of such a member, count only if all members agree, because then one of them has every
// committed entry. So an ensemble begins when all its members run, and never again.
type votes struct {
	joining bool
	round   request         // the last own request
	granted map[uint64]bool // members that agreed
	held    []*pb.Message   // votes that do not count so far
}

// A request is a candidate's request for votes.
type request struct {
	answer pb.MessageType
	term   uint64
}

func (v *votes) init(m *Member) { v.joining = m.config.Joining }

// Joining reports whether the member is joining. When it is not any more, the caller sets
// Config.Joining to false at the member's further starts.
func (m *Member) Joining() bool { return m.votes.joining }

// isWeak reports whether a message that the member sends is a vote that counts only with all others.
func (v *votes) isWeak(x *pb.Message) bool { return v.joining && isVote(x) }

func isVote(x *pb.Message) bool {
	return (x.GetType() == pb.MsgVoteResp || x.GetType() == pb.MsgPreVoteResp) && !x.GetReject()
}

// sent takes note of the member's own request.
func (v *votes) sent(x *pb.Message) {
	switch x.GetType() {
	case pb.MsgVote:
		v.round = request{pb.MsgVoteResp, x.GetTerm()}
	case pb.MsgPreVote:
		v.round = request{pb.MsgPreVoteResp, x.GetTerm()}
	default:
		return
	}
	v.granted, v.held = map[uint64]bool{}, nil
}

// arrived returns the votes that count now that another one has arrived.
func (v *votes) arrived(x Message, members int) (count []*pb.Message) {
	if v.round != (request{x.Raft.GetType(), x.Raft.GetTerm()}) {
		if !x.Weak {
			count = []*pb.Message{x.Raft}
		}
		return count
	}
	v.granted[x.From] = true
	v.held = append(v.held, x.Raft)
	if (x.Weak || v.joining) && len(v.granted) < members-1 {
		return nil
	}
	if len(v.granted) < members-1 {
		v.held = v.held[:len(v.held)-1]
		return []*pb.Message{x.Raft}
	}
	count, v.held = v.held, nil
	return count
}

// comparison compares the members' states. Every member proposes the digest of its state after some
// entries, and keeps what all members have proposed. A member whose digest differs from that of a
// majority stops. If no majority agrees by the time of the next digest, which is so if a member is
// down, those that differ from the leader stop.
type comparison struct {
	every uint64
	marks [marks]mark
}

// marks is the number of entries for which digests are kept.
const marks = 16

// A mark holds the digests of the state after one entry.
type mark struct {
	index   uint64
	digests map[uint64]uint64 // by member
	leader  uint64            // the last leader among these members, 0 without one
}

func (c *comparison) init(m *Member) { c.every = m.config.CompareEvery }

func (c *comparison) reset() { c.marks = [marks]mark{} }

// passed proposes the digest of the state after an entry.
func (c *comparison) passed(m *Member, index uint64) {
	if index%c.every != 0 || m.state.version == 0 {
		return
	}
	if before := c.markOf(index - c.every); before != nil && m.err == nil {
		m.err = before.undecided(m)
	}
	digest := m.state.Digest()
	c.marks[index/c.every%marks] = mark{index: index, digests: map[uint64]uint64{m.config.ID: digest}}
	e := entry{Kind: Compare, Origin: m.config.ID, Index: index, Digest: digest}
	if m.leads() {
		e.Term = m.term
	}
	m.propose([]*pb.Entry{{Data: m.encode(nil, &e)}})
}

// markOf returns the digests after an entry, or nil if this member has not kept its own.
func (c *comparison) markOf(index uint64) *mark {
	x := &c.marks[index/c.every%marks]
	if x.index != index || index == 0 {
		return nil
	}
	return x
}

// proposed takes a member's digest. It returns an error if a majority agrees on another than this
// member's.
func (c *comparison) proposed(m *Member, e *entry) error {
	x := c.markOf(e.Index)
	if x == nil {
		return nil
	}
	if e.Origin != m.config.ID { // a proposal of an earlier start of this member says nothing of this one
		x.digests[e.Origin] = e.Digest
	}
	if e.Term != 0 {
		x.leader = e.Origin
	}
	if most, ok := x.majority(len(m.config.Members)); ok && most != x.digests[m.config.ID] {
		return &Divergence{Index: x.index, Own: x.digests[m.config.ID], Other: most, Majority: true}
	}
	return nil
}

// majority returns the digest on which a majority of all members agrees.
func (x *mark) majority(members int) (digest uint64, ok bool) {
	count := map[uint64]int{}
	for _, d := range x.digests {
		if count[d]++; count[d] > members/2 {
			return d, true
		}
	}
	return 0, false
}

// undecided returns an error if no majority agrees and the member differs from the leader.
func (x *mark) undecided(m *Member) error {
	other, ok := x.digests[x.leader]
	own := x.digests[m.config.ID]
	if _, agreed := x.majority(len(m.config.Members)); agreed || !ok || other == own {
		return nil
	}
	return &Divergence{Index: x.index, Own: own, Other: other}
}
