package fanout

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/internal/bubble"
)

// reported returns the index of each session that a follower recorded, and its outcome.
func reported(f Followed, w []wire) (who []int, outcomes []Outcome) {
	for _, u := range f.Wakeups {
		for i := range w {
			if w[i].Session == u.Session {
				who = append(who, i)
			}
		}
		outcomes = append(outcomes, u.Outcome)
	}
	return who, outcomes
}

func wantWoken(t *testing.T, when string, m *Meter, w []wire, who []int, outcomes []Outcome) {
	t.Helper()
	gotWho, gotOutcomes := reported(m.Followed(), w)
	if diff := cmp.Diff(who, gotWho); diff != "" {
		t.Errorf("%s: woken (-want +got):\n%s", when, diff)
	}
	if diff := cmp.Diff(outcomes, gotOutcomes); diff != "" {
		t.Errorf("%s: outcomes (-want +got):\n%s", when, diff)
	}
}

// A followed release has all sessions that it notified and none that the next release notified,
// and for each its outcome, however early or late that is known.
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
	wantWoken(t, "at first", m, w, nil, nil)
	release(6)
	wantWoken(t, "after the release", m, w, []int{1, 2, 3}, []Outcome{Useful, Pending, Pending})
	m.Hold()
	w[2].PhaseBegin() // gave up its phase
	w[1].PhaseBegin()
	arm(7)
	release(8)
	wantWoken(t, "after the next one", m, w, []int{1, 2, 3}, []Outcome{Useful, Wasted, Wasted})
	if n := m.Followed().Writes; n != 1 {
		t.Errorf("%d writes followed after Hold, want 1", n)
	}
	m.Unfollow()
	wantWoken(t, "when following has ended", m, w, nil, nil)
}

// Of all writes while following, the one whose fan-out half of the notifications do not exceed is shown:
// neither the first nor the largest, nor one of many that notified hardly anybody.
func TestTheFollowedWriteIsTypical(t *testing.T) {
	m, w := script(6)
	pos := int64(5)
	wake := func(n int) {
		for _, c := range w[1 : n+1] {
			c.arm(drivers.OpExists, "/l", pos, nil)
		}
		w[0].ask(drivers.OpDelete, "/l")
		for _, c := range w[1 : n+1] {
			c.notify(drivers.Deleted, "/l")
		}
		pos++
		w[0].answer(drivers.OpDelete, "/l", pos)
	}
	m.Follow()
	for _, n := range []int{1, 5, 4, 1, 1, 4, 1} {
		wake(n)
	}
	if f := m.Followed(); len(f.Wakeups) != 4 || f.Writes != 7 {
		t.Errorf("%d sessions of the typical one of %d writes, want 4 of 7", len(f.Wakeups), f.Writes)
	}
	m.Follow()
	for range 4 * maxFollowed {
		wake(2)
		wake(5)
		wake(4)
	}
	f := m.Followed()
	if len(f.Wakeups) != 4 || f.Writes <= maxFollowed/2 || f.Writes > maxFollowed {
		t.Errorf("%d sessions of the typical one of %d writes, want 4 of at most %d", len(f.Wakeups), f.Writes, maxFollowed)
	}
	if n := len(m.ledger.follower.of); n != f.Writes {
		t.Errorf("%d writes kept of a sample of %d", n, f.Writes)
	}
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
	wantWoken(t, "of a write half seen", m, w, nil, nil)
	w[2].arm(drivers.OpExists, "/m", 7, nil)
	w[0].ask(drivers.OpDelete, "/m")
	w[2].notify(drivers.Deleted, "/m")
	w[0].answer(drivers.OpDelete, "/m", 8)
	wantWoken(t, "of the one after it", m, w, []int{2}, []Outcome{Pending})
}

// A notification outside of every phase has no outcome, whatever the next phase does.
func TestOutcomesAreThoseOfPhases(t *testing.T) {
	m, w := script(2)
	w[1].arm(drivers.OpExists, "/l", 5, nil)
	m.Follow()
	w[0].ask(drivers.OpDelete, "/l")
	w[1].notify(drivers.Deleted, "/l")
	w[0].answer(drivers.OpDelete, "/l", 6)
	w[1].PhaseBegin()
	w[1].PhaseEnd()
	wantWoken(t, "in no phase", m, w, []int{1}, []Outcome{Pending})
}

func TestFollowedHasTheDrain(t *testing.T) {
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
