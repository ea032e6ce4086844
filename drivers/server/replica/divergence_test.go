package replica

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers/server/tree"
)

// A member whose state differs from that of a majority stops, also if it is the leader. If no majority
// can agree because a member is down, the one that differs from the leader stops.
func TestDivergenceStopsAMember(t *testing.T) {
	for _, c := range []struct {
		name       string
		leader     bool // the leader's state differs
		down       bool // another follower is down
		wantLeader bool // the leader stops
		majority   bool
	}{
		{name: "a follower", majority: true},
		{name: "the leader", leader: true, wantLeader: true, majority: true},
		{name: "a follower while the other is down", down: true},
		{name: "the leader while a follower is down", leader: true, down: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var leader uint64
			_, wrong := simulateWith(2, func(w *world) {
				w.run(2 * time.Second)
				leader = w.leader().id
				w.oracle.off = true
				var followers []*simNode
				for _, n := range w.nodes {
					if n.id != leader {
						followers = append(followers, n)
					}
				}
				wrong := followers[0]
				if c.leader {
					wrong = w.leader()
				}
				if c.down {
					followers[1].crash()
				}
				wrong.m.state.tree.Apply(tree.Txn{Op: tree.Op{Kind: tree.Refuse}}) // one zxid more
				w.run(20 * time.Second)
			})
			var d *Divergence
			if !errors.As(wrong, &d) {
				t.Fatalf("%v, want a divergence", wrong)
			}
			if d.Majority != c.majority {
				t.Errorf("%v, want a majority that agrees: %v", wrong, c.majority)
			}
			if stops := strings.Contains(wrong.Error(), fmt.Sprintf("node %d:", leader)); stops != c.wantLeader {
				t.Errorf("%v, and the leader is %d", wrong, leader)
			}
		})
	}
}
