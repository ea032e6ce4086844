package recipe_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/recipe"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

func runDoubleBarrier(t *testing.T, s drivers.Service, open func(c drivers.Conn, path string, clients int) recipe.DoubleBarrier) *metrics.Record {
	t.Helper()
	return runtest.Measure(t, workloads.Plan{Service: s, Clients: 5, Seed: 1,
		Form:     workloads.Form{Recipe: "double-barrier", Name: "test", Family: workloads.Recipe, New: recipe.DoubleBarriers(open)},
		Settings: workloads.Settings{Hold: time.Millisecond},
		Warmup:   20 * time.Millisecond, Duration: 300 * time.Millisecond})
}

func TestRunGoesInAndOut(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		r := runDoubleBarrier(t, s, func(c drivers.Conn, path string, clients int) recipe.DoubleBarrier {
			return recipes.NewDoubleBarrier(c, path, clients)
		})
		// Only the hold takes time here. A round may end at each edge of the window.
		if r.Rounds < 299 || r.Rounds > 301 || r.WholeRounds <= r.Rounds {
			t.Errorf("%d rounds, %d whole; want 300, and those before and after", r.Rounds, r.WholeRounds)
		}
		if want := 10 * r.WholeRounds; r.Safety.Violations != 0 || r.Safety.Checked != want || r.Safety.Weaker != "" {
			t.Errorf("%+v; want %d checks, no violation and the whole guarantee", r.Safety, want)
		}
		if c := r.Whole; c.Writes-c.FailedWrites != 11*r.WholeRounds {
			t.Errorf("%d writes, %d failed, in %d rounds of 5 clients; want 11 each besides", c.Writes, c.FailedWrites, r.WholeRounds)
		}
	})
}

func TestRunSaysThatAFormPromisesLess(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		r := runDoubleBarrier(t, s, func(c drivers.Conn, path string, clients int) recipe.DoubleBarrier {
			return recipes.NewSequentialDoubleBarrier(c, path, clients)
		})
		if r.Safety.Violations != 0 || r.Safety.Checked != 10*r.WholeRounds || r.Safety.Weaker == "" {
			t.Errorf("%+v; want %d checks, no violation, and a word on what is weaker", r.Safety, 10*r.WholeRounds)
		}
	})
}

// A revolving double barrier does not block clients that enter, or clients that leave.
type revolving struct {
	recipe.DoubleBarrier
	in, out bool
}

func (b revolving) Enter(ctx context.Context) (context.Context, error) {
	if b.in {
		return ctx, nil
	}
	return b.DoubleBarrier.Enter(ctx)
}

func (b revolving) Leave(ctx context.Context) error {
	if b.out {
		return nil
	}
	return b.DoubleBarrier.Leave(ctx)
}

func TestRunCatchesADoubleBarrierThatDoesNotWait(t *testing.T) {
	for name, b := range map[string]revolving{"in": {in: true, out: true}, "out": {out: true}} {
		wantCaught(t, name, func(t *testing.T, s drivers.Service) *metrics.Record {
			return runDoubleBarrier(t, s, func(c drivers.Conn, path string, clients int) recipe.DoubleBarrier {
				return revolving{recipes.NewDoubleBarrier(c, path, clients), b.in, b.out}
			})
		})
	}
}

// TestRunSurvivesASessionLostInside checks that a client that loses its session inside enters
// again, and that it is no violation that the others did not wait for it.
func TestRunSurvivesASessionLostInside(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		var left atomic.Int64
		left.Store(200) // in the window
		r := runDoubleBarrier(t, s, func(c drivers.Conn, path string, clients int) recipe.DoubleBarrier {
			return leavesInside{recipes.NewDoubleBarrier(c, path, clients), c, &left}
		})
		if n := r.Errors[drivers.ErrSessionLost.Error()]; n != 1 || r.Rounds < 200 {
			t.Errorf("%d lost sessions and %d rounds, want 1 and many", n, r.Rounds)
		}
		if r.Safety.Violations != 0 {
			t.Errorf("%+v; want no violation", r.Safety)
		}
	})
}

// leavesInside closes its session once after it has entered.
type leavesInside struct {
	recipe.DoubleBarrier
	conn drivers.Conn
	left *atomic.Int64
}

func (b leavesInside) Enter(ctx context.Context) (context.Context, error) {
	inside, err := b.DoubleBarrier.Enter(ctx)
	if err == nil && b.left.Add(-1) == 0 {
		b.conn.Close()
	}
	return inside, err
}
