package replica

import (
	"math"
	"strings"
	"testing"
	"time"

	pb "go.etcd.io/raft/v3/raftpb"
)

// TestMessagesThatContradict sends a member messages that no member of its version and history sends. They change
// nothing, except that a member ends whose own history is not that of the leader.
func TestMessagesThatContradict(t *testing.T) {
	for name, c := range map[string]struct {
		message func(leader, follower *simNode) (to *simNode, x *pb.Message)
		ends    string // a part of the reason for which the member ends
	}{
		"a proposal that nobody can decode": {func(leader, follower *simNode) (*simNode, *pb.Message) {
			return leader, &pb.Message{Type: pb.MsgProp.Enum(), Entries: []*pb.Entry{{Data: append([]byte{current.newest()}, "garbage of some length"...)}}}
		}, ""},
		"a proposal of another version": {func(leader, follower *simNode) (*simNode, *pb.Message) {
			e := entry{Kind: Register, Origin: follower.id, Boot: 1}
			data := leader.m.encode(nil, &e)
			data[0] = current.newest() + 1
			return leader, &pb.Message{Type: pb.MsgProp.Enum(), Entries: []*pb.Entry{{Data: data}}}
		}, ""},
		"a change of the members": {func(leader, follower *simNode) (*simNode, *pb.Message) {
			return leader, &pb.Message{Type: pb.MsgProp.Enum(), Entries: []*pb.Entry{{Type: pb.EntryConfChange.Enum()}}}
		}, ""},
		"a confirmation of what the leader does not have": {func(leader, follower *simNode) (*simNode, *pb.Message) {
			return leader, &pb.Message{Type: pb.MsgAppResp.Enum(), Term: new(leader.m.term), Index: new(leader.m.last + 1000)}
		}, ""},
		"another history": {func(leader, follower *simNode) (*simNode, *pb.Message) {
			return follower, &pb.Message{Type: pb.MsgApp.Enum(), From: new(leader.id), Term: new(leader.m.term),
				Index: new(follower.m.state.index), LogTerm: new(leader.m.term + 1)}
		}, "one of the two directories has another history"},
	} {
		t.Run(name, func(t *testing.T) {
			_, wrong := simulateWith(8, func(w *world) { // whose term has enough zxids
				w.run(2 * time.Second)
				leader := w.leader()
				if leader == nil || w.oracle.counter < math.MaxUint32 {
					w.fail("no leader that stays")
				}
				follower := w.nodes[leader.id%uint64(len(w.nodes))]
				for range 3 {
					to, x := c.message(leader, follower)
					if x.From == nil {
						x.From = new(follower.id)
					}
					x.To = new(to.id)
					to.receive(Message{From: x.GetFrom(), To: to.id, Raft: x}, nil)
					w.run(time.Second)
				}
				w.heal()
				w.run(6 * time.Second)
				for _, n := range w.nodes {
					if !n.m.Serving() {
						w.fail("member %d does not serve", n.id)
					}
				}
			})
			switch {
			case c.ends == "" && wrong != nil:
				t.Error(wrong)
			case c.ends != "" && (wrong == nil || !strings.Contains(wrong.Error(), c.ends)):
				t.Errorf("%v, want %q", wrong, c.ends)
			}
		})
	}
}
