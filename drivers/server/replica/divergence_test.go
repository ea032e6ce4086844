package replica

import (
	"errors"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers/server/tree"
)

// A member whose state differs from the leader's stops with the entry and both digests.
func TestDivergenceStopsAMember(t *testing.T) {
	_, wrong := simulateWith(1, func(w *world) {
		w.run(2 * time.Second)
		for _, n := range w.nodes {
			if !n.m.leads() {
				w.oracle.off = true
				n.m.state.tree.Apply(tree.Txn{Op: tree.Op{Kind: tree.Refuse}}) // one zxid more
				break
			}
		}
		w.run(20 * time.Second)
	})
	var d *Divergence
	if !errors.As(wrong, &d) {
		t.Fatalf("%v, want a divergence", wrong)
	}
}
