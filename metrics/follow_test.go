package metrics

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/internal/bubble"
)

// told returns the index of each session that a follower recorded, and its fate.
func told(f Followed, w []wire) (who []int, fates []Fate) {
	for _, u := range f.Wakeups {
		for i := range w {
			if w[i].Session == u.Session {
				who = append(who, i)
			}
		}
		fates = append(fates, u.Fate)
	}
	return who, fates
}

func wantTold(t *testing.T, when string, m *Meter, w []wire, who []int, fates []Fate) {
	t.Helper()
	gotWho, gotFates := told(m.Followed(), w)
	if diff := cmp.Diff(who, gotWho); diff != "" {
		t.Errorf("%s: woken (-want +got):\n%s", when, diff)
	}
	if diff := cmp.Diff(fates, gotFates); diff != "" {
		t.Errorf("%s: fates (-want +got):\n%s", when, diff)
	}
}

// A followed release has all sessions that it notified and none that the next release notified,
// and for each its fate, however early or late that is known.
func TestAWriteIsFollowed(t *testing.T) {
	m, w := script(4)
	release := func(pos int64) {
		w[0].ask(drivers.OpDelete, "/l")
		for _, c := range w[1:] {
			c.notify(drivers.Deleted, "/l")
		}
		w[1].PhaseEnd() // before the write is known
		w[0].answer(drivers.OpDelete, "/l", pos)
	}
	arm := func(pos int64) {
		for _, c := range w[1:] {
			c.arm(drivers.OpExists, "/l", pos, nil)
		}
	}
	for _, c := range w[1:] {
		c.PhaseBegin()
	}
	arm(5)
	m.Follow()
	wantTold(t, "at first", m, w, nil, nil)
	release(6)
	wantTold(t, "after the release", m, w, []int{1, 2, 3}, []Fate{Useful, Awake, Awake})
	w[2].PhaseBegin() // gave up its phase
	w[1].PhaseBegin()
	arm(7)
	release(8)
	wantTold(t, "after the next one", m, w, []int{1, 2, 3}, []Fate{Useful, Wasted, Wasted})
	m.Unfollow()
	wantTold(t, "when nobody follows", m, w, nil, nil)
}

// A write that caused notifications before following began is not shown in part.
func TestAWriteIsFollowedFromItsFirstNotification(t *testing.T) {
	m, w := script(3)
	for _, c := range w[1:] {
		c.arm(drivers.OpExists, "/l", 5, nil)
	}
	w[0].ask(drivers.OpDelete, "/l")
	w[1].notify(drivers.Deleted, "/l")
	m.Follow()
	w[2].notify(drivers.Deleted, "/l")
	w[0].answer(drivers.OpDelete, "/l", 6)
	wantTold(t, "of a write half seen", m, w, nil, nil)
	w[2].arm(drivers.OpExists, "/m", 7, nil)
	w[0].ask(drivers.OpDelete, "/m")
	w[2].notify(drivers.Deleted, "/m")
	w[0].answer(drivers.OpDelete, "/m", 8)
	wantTold(t, "of the one after it", m, w, []int{2}, []Fate{Awake})
}

// A notification outside of every phase has no fate, whatever the next phase does.
func TestFatesAreThoseOfPhases(t *testing.T) {
	m, w := script(2)
	w[1].arm(drivers.OpExists, "/l", 5, nil)
	m.Follow()
	w[0].ask(drivers.OpDelete, "/l")
	w[1].notify(drivers.Deleted, "/l")
	w[0].answer(drivers.OpDelete, "/l", 6)
	w[1].PhaseBegin()
	w[1].PhaseEnd()
	wantTold(t, "in no phase", m, w, []int{1}, []Fate{Awake})
}

func TestFollowedTellsTheDrain(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		m, w := script(3)
		for _, c := range w[1:] {
			c.arm(drivers.OpExists, "/l", 5, nil)
		}
		m.Follow()
		w[0].ask(drivers.OpDelete, "/l")
		w[1].notify(drivers.Deleted, "/l")
		time.Sleep(3 * time.Millisecond)
		w[2].notify(drivers.Deleted, "/l")
		w[0].answer(drivers.OpDelete, "/l", 6)
		if d := m.Followed().Drain; d != 3*time.Millisecond {
			t.Errorf("drained within %v, want 3ms", d)
		}
	})
}
