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
		c.End(ended)
		if got := all.Snapshot(); got.turns.Count != 0 || got.open != 0 {
			t.Errorf("%+v just after the window opened, want no turn and no time in one", got)
		}
		time.Sleep(3 * time.Second)
		c.End(time.Now())
		if got := all.Snapshot().turns; got.Count != 1 || got.Within != 3 || got.Sum != 4 {
			t.Errorf("%+v, want one turn of 4 s, of which 3 s lie in the window", got)
		}
	})
}
