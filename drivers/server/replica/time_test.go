package replica

import (
	"math"
	"testing"
	"time"
)

// TestTimesAreTheLeaders sets the clocks of the followers a year ahead, which changes no time of a node, and then
// that of the leader, whose times are right again as soon as its clock is.
func TestTimesAreTheLeaders(t *testing.T) {
	const year = 365 * 24 * time.Hour
	_, wrong := simulateWith(12, func(w *world) { // whose followers have clients that write
		w.run(2 * time.Second)
		leader := w.leader()
		if leader == nil || w.oracle.counter < math.MaxUint32 {
			w.fail("no leader that stays")
		}
		expect := func(when string, ahead time.Duration) {
			w.run(3 * time.Second) // clients write meanwhile
			if w.leader() != leader {
				w.fail("%s: another leader", when)
			}
			late := time.Duration(leader.wall()-leader.m.state.time)*time.Millisecond - leader.wrong + ahead
			if late < -time.Second || late > 2*time.Second {
				w.fail("%s: the time of the last write is %v behind what is right", when, late)
			}
		}
		expect("at first", 0)
		for _, n := range w.nodes {
			if n != leader {
				n.wrong = year
			}
		}
		expect("with followers a year ahead", 0)
		leader.wrong = year
		expect("with a leader a year ahead", year)
		leader.wrong = 0
		expect("with a leader whose clock is right again", 0)
	})
	if wrong != nil {
		t.Error(wrong)
	}
}
