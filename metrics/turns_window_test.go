package metrics

import (
	"testing"
	"time"

	"github.com/stampede-bench/stampede/internal/bubble"
)

// TestTurnThatEndedBeforeTheWindowIsNotInIt covers a client that reads the clock when its turn
// ends and calls end a little later. A turn that ended before the window opened does not belong to
// the window, even if the window opened between the two. The part of the next turn within the
// window counts from the opening.
func TestTurnThatEndedBeforeTheWindowIsNotInIt(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		all := NewTurnTrackers(NewWindow())
		c := all.Tracker(0, 0)
		c.Begin()
		time.Sleep(time.Second)
		ended := time.Now()
		time.Sleep(time.Second)
		all.window.Open(time.Now())
		c.End(ended, all.window.Contains(ended))
		if got := all.Snapshot(); got.turns.Count != 0 || got.open != 0 {
			t.Errorf("%+v just after the window opened, want no turn and no time in one", got)
		}
		time.Sleep(3 * time.Second)
		c.End(time.Now(), true)
		if got := all.Snapshot().turns; got.Count != 1 || got.Within != 3e9 || got.Sum != 4e9 {
			t.Errorf("%+v, want one turn of 4 s, of which 3 s lie in the window", got)
		}
	})
}

// TestFailedTurnsAreInProgress takes turns that fail, and one that ends. The mean number in progress includes
// all of them, in the window only, and the turn that ended does not stand for them.
func TestFailedTurnsAreInProgress(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		all := NewTurnTrackers(NewWindow())
		failing, ending := all.Tracker(0, 0), all.Tracker(1, 0)
		failing.Begin()
		time.Sleep(time.Second)
		all.window.Open(time.Now())
		ending.Begin()
		time.Sleep(2 * time.Second)
		failing.Stop()
		ending.End(time.Now(), true)
		ending.Stop()
		failing.Begin()
		time.Sleep(2 * time.Second)
		all.window.CloseNow()
		time.Sleep(time.Second)
		failing.Stop()
		var r Record
		all.Snapshot().Fill(&r, false)
		if l := r.Little; l == nil || l.InProgress != 1.5 || l.Ended != 0.5 || l.Holds() {
			t.Errorf("%+v, want 1.5 turns in progress on average, of which 0.5 ended", l)
		}
		if err := r.Identities(); err != nil {
			t.Error(err)
		}
	})
}
