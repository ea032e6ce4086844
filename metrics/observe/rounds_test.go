package observe

import (
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// TestEqualRoundsAreCountedEqually has six sessions race twelve times to set a value: one clears it, all read it, one
// sets it, and the others fail and read it. Each failed write and each read follows a notification. The winner is
// notified of its own write before the reply. So it is for a value below the root and deeper, and if sessions
// write a node beside it, too.
func TestEqualRoundsAreCountedEqually(t *testing.T) {
	for _, node := range []string{"/value", "/app/value"} {
		for _, beside := range []bool{false, true} {
			s := newStage()
			all := s.sessions(7)
			writer, racers := all[0], all[1:]
			for _, r := range racers {
				r.watch(node)
			}
			told := func() {
				for _, r := range racers {
					r.told(drivers.DataChanged, node)
				}
			}
			for round := range 12 {
				writer.set(node)
				told()
				for _, r := range racers {
					r.watch(node)
					if beside {
						r.set("/app/beside")
					}
				}
				winner := racers[round%6]
				m := drivers.Message{Kind: drivers.Request, Op: drivers.OpSet, Path: []byte(node)}
				winner.Message(s.now, m)
				told()
				s.pos++
				m.Kind, m.Pos = drivers.Reply, s.pos
				winner.Message(s.now, m)
				for _, r := range racers {
					if r != winner {
						r.do(drivers.OpSet, node, 0, false, drivers.ErrBadVersion)
					}
				}
				for _, r := range racers {
					r.watch(node)
				}
				s.pass(time.Second)
			}
			for _, p := range s.a.Report().Places {
				if p.Path == node && (p.LostAfter != 60 || p.ReadsAfter != 144 || p.Notifications != 144 || p.Changes != 24) {
					t.Errorf("%s, beside %v: %d failed writes and %d reads after %d notifications of %d changes; want 60, 144, 144 and 24",
						node, beside, p.LostAfter, p.ReadsAfter, p.Notifications, p.Changes)
				}
			}
		}
	}
}
