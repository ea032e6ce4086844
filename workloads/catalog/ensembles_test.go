package catalog_test

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/faults"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
)

// Forms keep their promise and go on while members of an ensemble are killed,
// stopped, started again and isolated, and while their own sessions and connections are
// broken. They run side by side, so that each schedule is tried on all of them.
// SEEDS says how many schedules there are, RECIPES of which recipes, or "all".
// Here it is one of the lock, to see that it works: make soak is the real thing,
// alone on the machine and without the race detector, under which the members of
// etcd, which are processes of this binary, take too long to elect a leader.
//
//	make soak SOAK=3 RECIPES=all
func TestFormsOnEnsemblesUnderFaults(t *testing.T) {
	testenv.SkipIfShort(t)
	for _, url := range []string{"zookeeper:?servers=3&client=lean", "etcd:?servers=3"} {
		t.Run(url, func(t *testing.T) {
			s := backendtest.Divisible(t, url)
			for seed := range seeds() {
				underMemberFaults(t, s, seed)
			}
		})
	}
}

// soak is for how long each schedule goes on, and shocks how often something
// happens to a member in it, and to the clients of each form.
const (
	soak   = 13 * time.Second
	shocks = 2500 * time.Millisecond
)

func underMemberFaults(t *testing.T, s drivers.Ensemble, seed uint64) {
	t.Helper()
	members := faults.Nemesis(seed, faults.Powers{Servers: len(s.Members()), Divisible: s.Divisible(), Window: soak}, shocks)
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	done := 0
	all.Go(func() {
		err := members.Do(ctx, faults.Subjects{Servers: s.Members(), Seed: seed}, func(d faults.Done) {
			if d.Step == 0 {
				done++
			}
		})
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	})
	forms := soaked(t, s)
	var runs sync.WaitGroup
	for _, f := range forms {
		runs.Go(func() { besides(t, s, f, seed, members, len(forms)) })
	}
	runs.Wait()
	cancel()
	all.Wait()
	if done != len(members) {
		t.Errorf("seed %d: %d faults of %d came\n%s", seed, done, len(members), members)
	}
}

// soaked are the forms that the service can run and no library ships, of the
// recipes asked for. A storm or a fan-out has no promise that faults could break.
func soaked(t *testing.T, s drivers.Service) []workloads.Form {
	asked := cmp.Or(os.Getenv("RECIPES"), "lock")
	return slices.DeleteFunc(served(t, s), func(f workloads.Form) bool {
		return f.Client != "" || f.Family == workloads.Load && f.Recipe != "mix" ||
			asked != "all" && !slices.Contains(strings.Split(asked, ","), f.Recipe)
	})
}

// besides runs one form while others run, so many in all. The more there are, the
// more each takes its time: members that starve elect no leader.
func besides(t *testing.T, s drivers.Service, f workloads.Form, seed uint64, members faults.Schedule, forms int) {
	share := time.Duration(forms) * time.Millisecond
	p := workloads.Plan{
		Service: s, Form: f, Clients: 3, Duration: soak, Seed: seed,
		Settings: workloads.Settings{Hold: 4 * share, Think: 16 * share, Mix: workloads.MixSettings{
			Reads: 0.4, Creates: 0.2, Conditional: true, Keys: 5}},
	}
	p.Faults = faults.Nemesis(seed, faults.Powers{Clients: p.Clients, Holder: f.Holds(), Window: soak}, shocks)
	r, err := workloads.Run(t.Context(), p)
	switch {
	case err != nil:
		t.Errorf("seed %d: %v: %v\n%s\n%s", seed, f, err, members, p.Faults)
	case r.Safety.Violations != 0:
		t.Errorf("seed %d: %v: %+v\n%s\n%s", seed, f, r.Safety, members, p.Faults)
	case slices.ContainsFunc(r.Doubts, func(d metrics.Warning) bool { return d.Code == metrics.Abandoned }):
		t.Errorf("seed %d: %v: rounds were abandoned\n%s\n%s", seed, f, members, p.Faults)
	case r.WholeRounds == 0:
		t.Errorf("seed %d: %v: nothing was done", seed, f)
	}
}
