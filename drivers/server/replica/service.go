package replica

import (
	"math"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"
	"go.etcd.io/raft/v3/tracker"
)

// service decides whether the member serves clients. It does from the time at which it has applied
// all that was committed when it found a leader, until it has known of no leader for a while. A
// leader that steps down because it lost its majority stops at once.
type service struct {
	on         bool
	checking   bool
	deposed    bool // the member was the leader and found no other since
	leaderless int  // ticks
}

// graceTicks is the number of ticks for which a member without a leader still serves reads. It is
// longer than most elections.
const graceTicks = 2 * ElectionTicks

// Serving reports whether the member serves clients. The caller refuses new clients otherwise.
func (m *Member) Serving() bool { return m.service.on }

func (s *service) tick(m *Member) {
	if m.soft.Lead == raft.None {
		if s.leaderless++; s.leaderless > graceTicks || s.deposed {
			s.suspend(m)
		}
		return
	}
	s.leaderless, s.deposed = 0, false
	if !s.on && !s.checking {
		s.checking = true
		m.reads.add(func() {
			s.on, s.checking = true, false
			m.votes.joining = false
		})
	}
}

func (s *service) suspend(m *Member) {
	s.deposed = false
	if s.on {
		s.on = false
		m.handler.Suspend()
	}
}

// handOver makes another member the leader when the zxids of the term run out, so that a new term
// begins.
func (m *Member) handOver() {
	left := m.state.counter - uint32(m.state.tree.Zxid())
	if !m.leads() || int64(m.state.tree.Zxid()>>32) != int64(m.term) || left > min(math.MaxUint16, m.state.counter/4) {
		return
	}
	var next, match uint64
	for id, p := range m.node.Status().Progress {
		if id != m.config.ID && p.RecentActive && (p.Match > match || p.Match == match && id < next) {
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
	Committed uint64 // index of the last committed entry that the member knows of
	Applied   uint64
	Pending   int   // proposals of the member's clients that are not applied
	Elections int64 // leaders that the member has seen since it started
	// Followers and Synced are the numbers of other members that a leader heard of lately, and of those
	// among them that have all entries but the most recent.
	Followers, Synced int
	Members           int
}

// Status returns the member's status.
func (m *Member) Status() Status {
	b := m.node.BasicStatus()
	s := Status{ID: m.config.ID, Leader: b.Lead, Role: "follower", Term: b.GetTerm(), Committed: b.GetCommit(), Applied: m.state.index,
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
		at, heard := m.heard[id]
		if id == m.config.ID || !heard || m.ticks-at > ElectionTicks {
			return
		}
		s.Followers++
		if p.State == tracker.StateReplicate {
			s.Synced++
		}
	})
}

// votes protect what was committed from members that have lost their log. A member whose log was empty
// when it started, because it is new or its directory was removed, is joining until it has applied all
// that was committed: it may have confirmed entries that it does not have any more. Its vote, and the
// election of such a member, count only if all members agree, because then one of them has every
// committed entry. Between members whose logs are empty votes count as usual, so that a new ensemble
// can begin with a majority of its members.
type votes struct {
	joining bool
	begun   map[request]bool // requests of candidates whose log was not empty
	round   request          // the last own request, without a candidate
	weak    bool             // the member's own vote in it counts only with all others
	granted map[uint64]bool  // members that agreed
	held    []*pb.Message    // votes that do not count so far
}

// A request is a candidate's request for votes.
type request struct {
	candidate uint64
	answer    pb.MessageType
	term      uint64
}

func (v *votes) init(m *Member) {
	v.joining, v.begun = m.config.Joining, map[request]bool{}
}

// Joining reports whether the member is joining. When it is not any more, the caller sets
// Config.Joining to false at the member's further starts.
func (m *Member) Joining() bool { return m.votes.joining }

// noteCandidate takes note of a candidate's request.
func (v *votes) noteCandidate(x *pb.Message) {
	if r, ok := requestOf(x); ok && v.joining && x.GetIndex() > 0 {
		r.candidate = x.GetFrom()
		v.begun[r] = true
	}
}

func requestOf(x *pb.Message) (r request, ok bool) {
	switch x.GetType() {
	case pb.MsgVote:
		return request{answer: pb.MsgVoteResp, term: x.GetTerm()}, true
	case pb.MsgPreVote:
		return request{answer: pb.MsgPreVoteResp, term: x.GetTerm()}, true
	}
	return r, false
}

// isWeak reports whether a message that the member sends is a vote that counts only with all others.
func (v *votes) isWeak(x *pb.Message) bool {
	return v.joining && isVote(x) && v.begun[request{x.GetTo(), x.GetType(), x.GetTerm()}]
}

func isVote(x *pb.Message) bool {
	return (x.GetType() == pb.MsgVoteResp || x.GetType() == pb.MsgPreVoteResp) && !x.GetReject()
}

// sent takes note of the member's own request.
func (v *votes) sent(x *pb.Message) {
	if r, ok := requestOf(x); ok {
		v.round, v.weak = r, v.joining && x.GetIndex() > 0
		v.granted, v.held = map[uint64]bool{}, nil
	}
}

// arrived returns the votes that count now that another one has arrived.
func (v *votes) arrived(x Message, members int) (count []*pb.Message) {
	if v.round != (request{0, x.Raft.GetType(), x.Raft.GetTerm()}) {
		if !x.Weak {
			count = []*pb.Message{x.Raft}
		}
		return count
	}
	v.granted[x.From] = true
	v.held = append(v.held, x.Raft)
	if (x.Weak || v.weak) && len(v.granted) < members-1 {
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
	if index%c.every != 0 {
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
	m.propose([]*pb.Entry{{Data: e.append(nil)}})
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
