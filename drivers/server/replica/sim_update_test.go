package replica

import (
	"errors"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/internal/testenv"
)

// TestUpdates updates whole ensembles with faults from the program of today to one that knows version 3, one member after
// the other, in any order. Some members go back to the older program meanwhile. The variables are those of TestSimulation.
func TestUpdates(t *testing.T) {
	testenv.SkipIfRaced(t) // it has one goroutine
	var all updates
	count := uint64(schedules(t) / 6)
	for seed := range count {
		w, wrong := simulated(firstSeed(t)+seed, update)
		if wrong != nil {
			t.Fatalf("SEED=%d: %v", firstSeed(t)+seed, wrong)
		}
		all.back += w.updates.back
		all.refused += w.updates.refused
	}
	t.Logf("%d members went back before version 3 was in force, and %d that did so later were refused", all.back, all.refused)
	if count >= 50 && (all.back == 0 || all.refused == 0) {
		t.Error("want some of both")
	}
}

// updates counts what happened to members that went back to the older program.
type updates struct{ back, refused int }

// update is a schedule.
func update(w *world) {
	w.run(time.Second)
	for _, i := range w.r.Perm(len(w.nodes)) {
		n := w.nodes[i]
		w.restart(n, newer)
		if w.chance(0.4) {
			w.restart(n, current)
			if !w.oracle.raised {
				w.updates.back++
			}
			w.restart(n, newer)
		}
	}
	w.settle()
	for _, n := range w.nodes {
		if n.m.state.version != 3 {
			w.fail("version %d is in force on node %d, want 3", n.m.state.version, n.id)
		}
	}
	w.oracle.compareVersions()
}

// restart starts a node with a program, and makes faults meanwhile.
func (w *world) restart(n *simNode, p *program) {
	if n.m != nil {
		n.crash()
	}
	n.program = p
	w.after(w.between(50*time.Millisecond, 2*time.Second), n.start)
	for range w.r.IntN(3) {
		w.run(w.between(100*time.Millisecond, 2*time.Second))
		w.wreck()
	}
	w.run(w.between(100*time.Millisecond, 3*time.Second))
}

// greets reports whether the greeting of a node is accepted by another one. It is if the node is down: what arrives then was
// sent before.
func (n *simNode) greets(o *simNode) bool {
	return n.m == nil || n.m.Versions().Check(n.id, o.m.Versions(), o.id) == nil
}

// refused ends a node that cannot continue, or not start. The only one that may not is a node that went back to the older
// program after a leader had heard that it knows the newer one.
func (n *simNode) refused(err error) {
	var u *unreadable
	if !errors.As(err, &u) || !n.w.oracle.raised || n.program != current {
		n.w.fail("node %d: %w", n.id, err)
	}
	n.w.updates.refused++
	if n.m != nil {
		n.crash()
	}
	n.program = newer
	n.w.after(n.w.between(50*time.Millisecond, time.Second), n.start)
}

// ran notes that the node ran with its program.
func (n *simNode) ran() {
	if n.m != nil && n.program == newer {
		n.updated = n.w.now
	}
}

// stale is the longest time for which a leader may believe that another member runs: it was frozen for most of it.
const stale = 8 * time.Second

// raises checks what a leader has proposed. Before it has an identity, an ensemble can begin with version 3.
func (n *simNode) raises(out *Output) {
	for _, a := range out.Appends {
		for _, x := range a.Entries {
			e, err := newer.decode(x.GetData())
			raise := e.Kind == Raise || e.Kind == Begin && e.version > current.newest()
			if err != nil || !raise || e.Origin != n.id || x.GetTerm() != n.m.term || !n.m.leads() {
				continue
			}
			n.w.oracle.raised = true
			for _, o := range n.w.nodes {
				o.ran()
				if o.updated == 0 || n.w.now-o.updated > stale {
					n.w.fail("node %d brings version %d into force, which node %d does not know", n.id, e.version, o.id)
				}
			}
		}
	}
}

// compareVersions checks that no entry before the raise has a newer version.
func (o *oracle) compareVersions() {
	for _, x := range o.log {
		if x.data[0] > x.version {
			o.w.fail("entry %d has version %d, and version %d is in force", x.index, x.data[0], x.version)
		}
	}
}
