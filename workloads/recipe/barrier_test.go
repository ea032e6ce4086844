package recipe_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads/recipe"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

func TestRunOpensBarriers(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		r := runtest.Measure(t, runtest.BarrierPlan(s, func(c drivers.Conn, path string) recipe.Barrier {
			return recipes.NewBarrier(c, path)
		}))
		// Only the hold takes time here. A round may end at each edge of the window.
		if r.Rounds < 299 || r.Rounds > 301 || r.WholeRounds <= r.Rounds {
			t.Errorf("%d rounds, %d whole; want 300, and those before and after", r.Rounds, r.WholeRounds)
		}
		n := r.WholeRounds
		if c := r.Whole; c.Notifications != 5*n || c.Reads != 10*n || c.Writes != n {
			t.Errorf("%d notifications, %d reads, %d writes in %d rounds of 5 clients; want 5, 10 and 1 each",
				c.Notifications, c.Reads, c.Writes, n)
		}
		if r.Safety.Violations != 0 || r.Safety.Checked != 5*n || r.Herd.Largest != 5 {
			t.Errorf("%+v, largest fan-out %d; want %d checks, no violation, 5", r.Safety, r.Herd.Largest, 5*n)
		}
	})
}

// An openDoor is a barrier that does not block.
type openDoor struct{ recipe.Barrier }

func (openDoor) Wait(context.Context) error { return nil }

func TestRunCatchesABarrierThatHoldsNobodyUp(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		r := runtest.Measure(t, runtest.BarrierPlan(s, func(c drivers.Conn, path string) recipe.Barrier {
			return openDoor{recipes.NewBarrier(c, path)}
		}))
		if want := 5 * r.WholeRounds; r.Safety.Violations != want {
			t.Errorf("%d violations in %d rounds, want %d", r.Safety.Violations, r.WholeRounds, want)
		}
	})
}

// TestRunSurvivesASessionLostAtABarrier checks that a client that loses its session at a barrier
// comes to the same barrier again, and that the others wait for no other client.
func TestRunSurvivesASessionLostAtABarrier(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		var left atomic.Int64
		left.Store(200) // in the window
		r := runtest.Measure(t, runtest.BarrierPlan(s, func(c drivers.Conn, path string) recipe.Barrier {
			return leavesAtBarrier{recipes.NewBarrier(c, path), c, &left}
		}))
		if n := r.Errors[drivers.ErrSessionLost.Error()]; n != 1 || r.Rounds < 200 {
			t.Errorf("%d lost sessions and %d rounds, want 1 and many", n, r.Rounds)
		}
		if r.Safety.Violations != 0 || r.Safety.Checked != 5*r.WholeRounds {
			t.Errorf("%+v; want no violation in %d checks", r.Safety, 5*r.WholeRounds)
		}
	})
}

// leavesAtBarrier closes its session once before it waits.
type leavesAtBarrier struct {
	recipe.Barrier
	conn drivers.Conn
	left *atomic.Int64
}

func (b leavesAtBarrier) Wait(ctx context.Context) error {
	if b.left.Add(-1) == 0 {
		b.conn.Close()
	}
	return b.Barrier.Wait(ctx)
}
