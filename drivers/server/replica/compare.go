package replica

import pb "go.etcd.io/raft/v3/raftpb"

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
	if before := c.at(index - c.every); before != nil && m.err == nil {
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

// at returns the digests after an entry, or nil if this member has not kept its own.
func (c *comparison) at(index uint64) *mark {
	x := &c.marks[index/c.every%marks]
	if x.index != index || index == 0 {
		return nil
	}
	return x
}

// proposed takes a member's digest. It returns an error if a majority agrees on another than this
// member's.
func (c *comparison) proposed(m *Member, e *entry) error {
	x := c.at(e.Index)
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
