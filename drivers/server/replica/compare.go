package replica

import pb "go.etcd.io/raft/v3/raftpb"

// comparison compares the members' states. Every member keeps the digests of its state after some
// entries, and the leader proposes its own.
type comparison struct {
	every uint64
	marks [marks]mark
}

// marks is the number of digests kept. The leader proposes one as soon as it has it, so it is
// applied long before the member has as many later ones, or not at all.
const marks = 16

type mark struct{ index, digest uint64 }

func (c *comparison) init(m *Member) { c.every = m.config.CompareEvery }

func (c *comparison) reset() { c.marks = [marks]mark{} }

// passed keeps the digest of the state after an entry.
func (c *comparison) passed(m *Member, index uint64) {
	if index%c.every != 0 {
		return
	}
	x := mark{index, m.state.Digest()}
	c.marks[index/c.every%marks] = x
	if m.leads() {
		e := entry{Kind: Compare, Origin: m.config.ID, Term: m.term, Index: x.index, Digest: x.digest}
		m.propose([]*pb.Entry{{Data: e.append(nil)}})
	}
}

// check returns an error if the member's digest differs from the leader's.
func (c *comparison) check(e *entry) error {
	own := c.marks[e.Index/c.every%marks]
	if own.index != e.Index || own.digest == e.Digest {
		return nil
	}
	return &Divergence{Index: e.Index, Own: own.digest, Leader: e.Digest}
}
