package replica

import (
	"math"

	"go.etcd.io/raft/v3"
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
