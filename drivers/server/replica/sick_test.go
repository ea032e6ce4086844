package replica

import (
	"math"
	"testing"
	"time"
)

// TestASickFollowerHarmsNobodyElse lets one follower be ill in each way, for longer than all time-outs. The other members keep the
// connections of their clients meanwhile and afterwards, also of those that had asked the follower before they came.
func TestASickFollowerHarmsNobodyElse(t *testing.T) {
	for name, fall := range map[string]func(w *world, n *simNode){
		"it crashes":            func(w *world, n *simNode) { w.crash(n) },
		"nobody hears it":       func(w *world, n *simNode) { w.isolateFor(n, never, 1) },
		"it hears nobody":       func(w *world, n *simNode) { w.isolateFor(n, never, 2) },
		"it is cut off":         func(w *world, n *simNode) { w.isolateFor(n, never, 3) },
		"its disk hangs":        func(w *world, n *simNode) { n.hung = never },
		"it is stopped":         func(w *world, n *simNode) { n.frozen = w.now + 10*time.Second },
		"its disk is emptied":   func(w *world, n *simNode) { w.wipe(n) },
		"its disk is restored":  func(w *world, n *simNode) { w.replace(n, n.copied) },
		"its clock is wrong":    func(w *world, n *simNode) { n.wrong = 10000 * time.Hour },
		"its connections break": func(w *world, n *simNode) { w.breakConnections(n) },
	} {
		t.Run(name, func(t *testing.T) {
			simulateEach(t, func(w *world) {
				if w.oracle.counter < math.MaxUint32 {
					return // leaders hand over all the time
				}
				w.run(2 * time.Second)
				for _, n := range w.nodes {
					n.copied = n.disk.copy()
				}
				w.run(2 * time.Second)
				leader := w.leader()
				if leader == nil {
					w.fail("no leader")
				}
				w.sick = w.nodes[leader.id%3]
				fall(w, w.sick)
				w.run(12 * time.Second)
				w.settle()
			})
		})
	}
}

// breakConnections breaks the connections of a node with others, again and again.
func (w *world) breakConnections(n *simNode) {
	for _, o := range w.nodes {
		if o != n {
			n.lose(o)
			o.lose(n)
		}
	}
	if w.calm == never {
		w.after(w.between(100*time.Millisecond, time.Second), func() { w.breakConnections(n) })
	}
}

// TestALeaderIsCountedOnce breaks the connections of a follower, which then follows the same leader again.
func TestALeaderIsCountedOnce(t *testing.T) {
	simulateEach(t, func(w *world) {
		if w.oracle.counter < math.MaxUint32 {
			return // leaders hand over all the time
		}
		w.run(4 * time.Second)
		leader := w.leader()
		if leader == nil {
			w.fail("no leader")
		}
		term, n := leader.m.term, w.nodes[leader.id%3]
		was := n.m.Status()
		for range 5 {
			n.lose(leader)
			w.run(time.Second)
		}
		if now := n.m.Status(); leader.m.term == term && now.Elections != was.Elections {
			w.fail("node %d has counted %d leaders, and it was one", n.id, now.Elections-was.Elections+1)
		}
	})
}
