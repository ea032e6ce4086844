package observe

import (
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics/observation"
)

// TestEvidenceSaysWhatHappened has sessions do part of what a form is known for: the evidence does not say more.
func TestEvidenceSaysWhatHappened(t *testing.T) {
	for name, c := range map[string]struct {
		play                 func(s *stage, all []actor)
		path, form, evidence string
	}{
		"a recursive watch, and nothing read": {func(_ *stage, all []actor) {
			for _, p := range all[1:] {
				p.do(drivers.OpWatchTree, "/d", 0, false, nil)
			}
			all[0].create("/d/e", nil)
			for _, p := range all[1:] {
				p.told(drivers.Created, "/d/e")
			}
		}, "/d", "names, recursive watch", "3 sessions keep a recursive watch on the node"},
		"a recursive watch, and one reads": {func(_ *stage, all []actor) {
			all[1].do(drivers.OpWatchTree, "/d", 0, false, nil)
			all[0].create("/d/e", nil)
			all[1].told(drivers.Created, "/d/e")
			all[1].get("/d/e")
		}, "/d", "names, recursive watch", "1 session keeps a recursive watch on the node, and 1 session reads what changes below it"},
		"a value that each session reads once": {func(_ *stage, all []actor) {
			for _, p := range all[1:] {
				p.watch("/k")
				all[0].set("/k")
				p.told(drivers.DataChanged, "/k")
			}
		}, "/k", "value, watched", "3 sessions read the data with a watch"},
		"a value that is read again": {func(_ *stage, all []actor) {
			all[1].watch("/k")
			all[0].set("/k")
			all[1].told(drivers.DataChanged, "/k")
			all[1].watch("/k")
		}, "/k", "value, watched", "1 session reads the data with a watch, and again after each change"},
		"a node that never existed": {func(_ *stage, all []actor) {
			all[1].do(drivers.OpGet, "/k", 0, true, drivers.ErrNoNode)
		}, "/k", "", ""},
		"a value that is taken from the events": {func(_ *stage, all []actor) {
			for _, p := range all[1:] {
				p.do(drivers.OpWatchNode, "/k", 0, false, nil)
			}
			all[0].set("/k")
			for _, p := range all[1:] {
				p.told(drivers.DataChanged, "/k")
			}
		}, "/k", "value, persistent watch", "3 sessions keep a persistent watch on the node"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage()
			c.play(s, s.sessions(4))
			var got observation.Form
			for _, p := range s.a.Report().Places {
				if p.Path == c.path && p.Form != nil {
					got = *p.Form
				}
			}
			if got.Name != c.form || got.Evidence != c.evidence {
				t.Errorf("%q: %q; want %q: %q", got.Name, got.Evidence, c.form, c.evidence)
			}
		})
	}
}
