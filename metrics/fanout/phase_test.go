package fanout

import (
	"testing"

	"github.com/stampede-bench/stampede/drivers"
)

// TestNotificationsAfterTheLastReadAreOfNoPhase has a client be notified before and after the list that ends its phase.
// Only what it could know of when it ended the phase is counted.
func TestNotificationsAfterTheLastReadAreOfNoPhase(t *testing.T) {
	list := func(c wire) {
		c.ask(drivers.OpChildren, "/l")
		c.answer(drivers.OpChildren, "/l", 1)
	}
	for _, test := range []struct {
		name           string
		phase          func(c wire)
		useful, wasted int64
	}{
		{"after the list", func(c wire) {
			list(c)
			c.notify(drivers.ChildrenChanged, "/l")
		}, 0, 0},
		{"before and after", func(c wire) {
			c.notify(drivers.ChildrenChanged, "/l")
			list(c)
			c.notify(drivers.ChildrenChanged, "/l")
			c.notify(drivers.DataChanged, "/l")
		}, 1, 0},
		{"twice before", func(c wire) {
			c.notify(drivers.ChildrenChanged, "/l")
			c.notify(drivers.DataChanged, "/l")
			list(c)
		}, 1, 1},
		{"of a removal, which needs no list", func(c wire) {
			list(c)
			c.notify(drivers.ChildrenChanged, "/l")
			c.notify(drivers.Deleted, "/l/a")
		}, 1, 1},
		{"used without a read", func(c wire) {
			c.notify(drivers.DataChanged, "/l")
			c.Heeded()
		}, 1, 0},
		{"given up", func(c wire) {
			c.notify(drivers.ChildrenChanged, "/l")
			c.PhaseBegin()
		}, 0, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, w := script(1)
			w[0].PhaseBegin()
			test.phase(w[0])
			w[0].PhaseEnd()
			w[0].PhaseBegin() // forgets what came before
			list(w[0])
			w[0].PhaseEnd()
			if n := m.Counts(); n.Useful != test.useful || n.Wasted != test.wasted {
				t.Errorf("%d useful and %d wasted, want %d and %d", n.Useful, n.Wasted, test.useful, test.wasted)
			}
		})
	}
}

// TestFollowedNotificationsAfterTheLastRead checks that a notification that came too late to be of use does not take
// the outcome of the one that led to the end of the phase.
func TestFollowedNotificationsAfterTheLastRead(t *testing.T) {
	m, w := script(2)
	m.Follow()
	w[1].PhaseBegin()
	for pos := range int64(2) {
		w[1].arm(drivers.OpChildren, "/l", 5+pos, nil)
		w[0].ask(drivers.OpDelete, "/l/a")
		w[1].notify(drivers.ChildrenChanged, "/l")
		w[0].answer(drivers.OpDelete, "/l/a", 6+pos)
	}
	w[1].PhaseEnd()
	wantWoken(t, "of the first", m, w, []int{1}, []Outcome{Useful})
}
