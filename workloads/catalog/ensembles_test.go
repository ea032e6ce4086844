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
	"github.com/stampede-bench/stampede/drivers/cluster/faults"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
)

// TestFormsOnEnsemblesUnderFaults checks that all forms stay safe and make progress
// while members of an ensemble are killed, stopped, restarted and isolated, and while
// their own sessions and connections are broken. The forms run at the same time, so
// that each schedule applies to all of them. SEEDS is the number of schedules, RECIPES
// the recipes, or "all". The default, one schedule of the lock, only checks that the
// test works. The real test is make soak, on an otherwise idle machine and without the
// race detector: with it, etcd's members, which are processes of this binary, take too
// long to elect a leader.
//
//	make soak SOAK=3 RECIPES=all
func TestFormsOnEnsemblesUnderFaults(t *testing.T) {
	testenv.SkipIfShort(t)
	for _, url := range []string{"zookeeper:?servers=3", "etcd:?servers=3", "native:?servers=3"} {
		t.Run(url, func(t *testing.T) {
			s := backendtest.Divisible(t, url)
			for seed := range seeds() {
				underMemberFaults(t, s, seed)
			}
		})
	}
}

// soak is the duration of each schedule. shocks is the mean interval between the faults of
// the members, and between those of each form's clients. Sessions live longer than members
// that are short of CPU take to elect a leader: a run does not know of faults of the members,
// and ends when all its sessions have ended because the service did not answer.
const (
	soak    = 13 * time.Second
	shocks  = 2500 * time.Millisecond
	timeout = 30 * time.Second
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

// soaked returns the forms of the recipes in RECIPES that the service can run, without
// the forms that client libraries ship. It leaves out storms and fan-outs, which have
// no safety property that faults could violate.
func soaked(t *testing.T, s drivers.Service) []workloads.Form {
	asked := cmp.Or(os.Getenv("RECIPES"), "lock")
	return slices.DeleteFunc(served(t, s), func(f workloads.Form) bool {
		return f.Client != "" || f.Family == workloads.Load && f.Recipe != "mix" ||
			asked != "all" && !slices.Contains(strings.Split(asked, ","), f.Recipe)
	})
}

// besides runs one form while others run at the same time; forms is the number of all.
// The hold and think times grow with that number, because members that are short of CPU
// elect no leader.
func besides(t *testing.T, s drivers.Service, f workloads.Form, seed uint64, members faults.Schedule, forms int) {
	share := time.Duration(forms) * time.Millisecond
	p := workloads.Plan{
		Service: s, Form: f, Clients: 3, Duration: soak, Seed: seed, SessionTimeout: timeout,
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
