package workloads_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads/recipe"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

// TestGroupsDoNotWaitForEachOther checks that three locks are held at the same time, each by one
// client after the other.
func TestGroupsDoNotWaitForEachOther(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		p := runtest.LockPlan(s, runtest.Predecessor)
		p.Clients, p.Groups = 6, 3
		r := runtest.Measure(t, p)
		// Only the hold takes time here.
		if r.Rounds != 900 || r.Safety.Violations != 0 || r.Safety.Checked != r.WholeRounds {
			t.Errorf("%d rounds, %+v; want 3 locks held 300 times each, all checked", r.Rounds, r.Safety)
		}
		if want := slices.Repeat([]int64{150}, 6); !slices.Equal(r.Fairness.Served, want) || r.Herd.Largest != 1 {
			t.Errorf("served %v, largest fan-out %d; want %v and 1", r.Fairness.Served, r.Herd.Largest, want)
		}
		var names []string
		for _, p := range r.Phases {
			names = append(names, p.Name)
		}
		if want := []string{"acquire", "handoff", "release"}; !slices.Equal(names, want) {
			t.Errorf("phases %q, want %q, in which the groups are timed together", names, want)
		}
		var laps int64
		for _, i := range r.Intervals {
			laps += i.Rounds
		}
		if laps != r.Rounds || r.Phases[0].Service.TotalCount() < r.Rounds-6 {
			t.Errorf("%d rounds in the intervals and %d acquisitions timed, of %d", laps, r.Phases[0].Service.TotalCount(), r.Rounds)
		}
	})
}

// TestGroupsWithRoundsOfTheirOwn checks that a round that takes all clients takes those of one
// group, and that each group has its own leader.
func TestGroupsWithRoundsOfTheirOwn(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		p := runtest.BarrierPlan(s, func(c drivers.Conn, path string) recipe.Barrier { return recipes.NewBarrier(c, path) })
		p.Clients, p.Groups, p.Warmup = 6, 2, 20500*time.Microsecond
		r := runtest.Measure(t, p)
		if r.Rounds != 600 || r.Herd.Largest != 3 || r.Safety.Checked != 3*r.WholeRounds || r.Safety.Violations != 0 {
			t.Errorf("%d rounds, largest fan-out %d, %+v; want 2 barriers of 3 clients opened 300 times each", r.Rounds, r.Herd.Largest, r.Safety)
		}
	})
}

func TestAViolationSaysInWhichGroupItWas(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		p := runtest.LockPlan(s, nil)
		p.Form = runtest.LockForm(func(c drivers.Conn, path string) recipe.Lock {
			if strings.Contains(path, "/2/") {
				return freeLock{}
			}
			return runtest.Predecessor(c, path)
		})
		p.Clients, p.Groups = 4, 2
		r := runtest.Measure(t, p)
		if r.Safety.Violations == 0 || !strings.HasPrefix(r.Safety.Details[0], "group 2: violation: client ") || len(r.Safety.Details) > 10 {
			t.Errorf("%+v; want violations in group 2, the first few with details", r.Safety)
		}
	})
}
