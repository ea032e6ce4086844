package observe

import (
	"fmt"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
)

// TestOneCauseHasAllThatItsNotificationsLedTo ends a session that has a node in each of twenty lists, which six sessions
// watch. They are told of all lists before they read them, each once: every read belongs to the one change.
func TestOneCauseHasAllThatItsNotificationsLedTo(t *testing.T) {
	const lists, watchers = 20, 6
	s := newStage()
	provider := s.session(watchers + 1)
	all := s.sessions(watchers)
	at := func(i int) string { return fmt.Sprintf("/registry/service-%d/providers", i) }
	for i := range lists {
		provider.create(at(i)+"/a", nil)
		for _, w := range all {
			w.list(at(i))
		}
	}
	provider.do(drivers.OpClose, "", 0, false, nil)
	for _, w := range all {
		for i := range lists {
			w.told(drivers.ChildrenChanged, at(i))
		}
		for i := range lists {
			w.list(at(i))
		}
	}
	r := s.a.Report()
	c, p := r.Largest[0], r.Places[0]
	if c.Op != "close" || c.Woke != watchers || c.Notifications != watchers*lists || c.Reads != watchers*lists || c.Waited != watchers {
		t.Errorf("%s woke %d by %d notifications, %d reads followed and %d waited again, want close, %d, %d, %[5]d and %[4]d",
			c.Op, c.Woke, c.Notifications, c.Reads, c.Waited, watchers, watchers*lists)
	}
	if p.Changes != 1 || p.FanoutMax != watchers || p.ReadsAfter != watchers*lists {
		t.Errorf("%s: %d changes woke %d at most, %d reads followed, want 1, %d and %d", p.Path, p.Changes, p.FanoutMax, p.ReadsAfter, watchers, watchers*lists)
	}
}
