package recipetest_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/internal/bubble"
	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads/recipe"
	"github.com/stampede-bench/stampede/workloads/recipetest"
)

const fixedWait = 200 * time.Millisecond

func reconnectForms() []recipetest.ReconnectForm {
	return []recipetest.ReconnectForm{
		{Name: "full-jitter", New: func(random *rand.Rand) recipe.Reconnector {
			return recipes.NewReconnector(random)
		}},
		{Name: "at-once", New: func(random *rand.Rand) recipe.Reconnector {
			return naive.NewReconnector(random)
		}},
		{Name: "fixed", New: func(*rand.Rand) recipe.Reconnector {
			return naive.NewFixedReconnector(fixedWait)
		}},
	}
}

func TestReconnects(t *testing.T) {
	everywhere(t, reconnectForms())
}

// attemptsOf returns the times before each of n attempts that fail, after none of which time passes.
func attemptsOf(t *testing.T, r recipe.Reconnector, n int) (waits []time.Duration) {
	bubble.Test(t, func(t *testing.T) {
		last := time.Now()
		err := r.Reconnect(t.Context(), func(context.Context) error {
			waits, last = append(waits, time.Since(last)), time.Now()
			if len(waits) == n {
				return errors.New("enough")
			}
			return drivers.ErrConnectionLoss
		})
		if err == nil {
			t.Error("no error")
		}
	})
	return waits
}

// TestWaitsOfReconnects checks the waits exactly: those of full jitter are what the client's random draws below a limit
// that doubles from 200 ms to 2 s.
func TestWaitsOfReconnects(t *testing.T) {
	const n = 6
	draws := rand.New(rand.NewPCG(7, 0))
	var jitter, none, fixed []time.Duration
	for _, limit := range []time.Duration{200, 400, 800, 1600, 2000, 2000} {
		jitter = append(jitter, time.Duration(draws.Int64N(int64(limit*time.Millisecond))))
		none, fixed = append(none, 0), append(fixed, fixedWait)
	}
	want := map[string][]time.Duration{"full-jitter": jitter, "at-once": none, "fixed": fixed}
	for _, f := range reconnectForms() {
		if got := attemptsOf(t, f.New(rand.New(rand.NewPCG(7, 0))), n); !slices.Equal(got, want[f.Name]) {
			t.Errorf("%s waits %v, want %v", f.Name, got, want[f.Name])
		}
	}
}
