package observe

import (
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// TestALostNotificationIsMissedOrInDoubt loses the notifications of some of twelve watchers, which then close, answer a
// heartbeat, remove their watches, are killed, or are silent until the observation ends. An answer that shows the change proves the loss, and
// without one each watch that stood over it is in doubt. Nothing is either where all were told.
func TestALostNotificationIsMissedOrInDoubt(t *testing.T) {
	const watchers, lost = 12, 7
	for name, c := range map[string]struct {
		end              func(actor)
		missed, unproven int64
	}{
		"close":             {func(p actor) { p.do(drivers.OpClose, "", 0, false, nil); p.Close(p.now) }, lost, 0},
		"heartbeat":         {func(p actor) { p.do(drivers.OpPing, "", 0, false, nil); p.Close(p.now) }, lost, 0},
		"removes its watch": {func(p actor) { p.do(drivers.OpUnwatch, "/w", 0, false, nil); p.Close(p.now) }, lost, 0},
		"has none to remove": {func(p actor) {
			p.do(drivers.OpUnwatch, "/w", 0, false, drivers.ErrUnsupported)
			p.Close(p.now)
		}, lost, 0},
		"killed": {func(p actor) { p.Close(p.now) }, 0, lost},
		"killed while it closes": {func(p actor) {
			p.Message(p.now, drivers.Message{Kind: drivers.Request, Op: drivers.OpClose})
			p.Close(p.now)
		}, 0, lost},
		"silent": {func(actor) {}, 0, lost},
		"killed, and there again": {func(p actor) {
			p.Close(p.now)
			p.pass(time.Second)
			p.session(p.id)
		}, 0, lost},
	} {
		for _, sound := range []bool{false, true} {
			s := newStage()
			writer := s.session(watchers + 1)
			all := s.sessions(watchers)
			for _, w := range all {
				w.watch("/w")
			}
			writer.set("/w")
			for i, w := range all {
				if sound || i >= lost {
					w.told(drivers.DataChanged, "/w")
				}
			}
			for _, w := range all {
				c.end(w)
			}
			missed, unproven := c.missed, c.unproven
			if sound {
				missed, unproven = 0, 0
			}
			r := s.a.Report()
			p := r.Places[0]
			if tr := r.Traffic; tr.Missed != missed || tr.Unproven != unproven || *p.Missed != missed || p.Unproven != unproven {
				t.Errorf("%s, sound %v: %d missed and %d in doubt, at %s %d and %d, want %d and %d",
					name, sound, tr.Missed, tr.Unproven, p.Path, *p.Missed, p.Unproven, missed, unproven)
			}
		}
	}
}

// TestAChangeAfterTheEndLeavesNoDoubt has watchers leave in each way, and the node change after that.
func TestAChangeAfterTheEndLeavesNoDoubt(t *testing.T) {
	s := newStage()
	writer, closes, killed := s.session(1), s.session(2), s.session(3)
	closes.watch("/w")
	killed.watch("/w")
	closes.do(drivers.OpClose, "", 0, false, nil)
	closes.Close(s.now)
	killed.Close(s.now)
	writer.set("/w")
	if tr := s.a.Report().Traffic; tr.Missed+tr.Unproven != 0 || tr.Audited != 3 {
		t.Errorf("%d missed and %d in doubt of %d audited sessions, want none of 3", tr.Missed, tr.Unproven, tr.Audited)
	}
}
