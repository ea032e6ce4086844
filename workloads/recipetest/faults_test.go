package recipetest

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/faults"
	"github.com/stampede-bench/stampede/internal/bubble"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/workloads"
)

// TestMutantsUnderFaults checks that faults in a run expose mutants too: a mutant violates safety,
// fails or stops making progress under at least one of twelve schedules, which are random, or
// which strike where the form is weak. The correct forms pass all schedules that expose one of
// their mutants.
func TestMutantsUnderFaults(t *testing.T) {
	all := families()
	for _, recipe := range slices.Sorted(maps.Keys(all)) {
		f := all[recipe]
		for _, name := range slices.Sorted(maps.Keys(f.mutants)) {
			if _, is := hidden()[recipe+": "+name]; is {
				continue
			}
			t.Run(recipe+"/"+name, func(t *testing.T) { noticed(t, recipe, name, f) })
		}
		t.Run(recipe+"/right", func(t *testing.T) { getsThrough(t, recipe, f.right) })
	}
	t.Run("lock/right/one-node", func(t *testing.T) { getsThrough(t, "lock", workloads.Locks(naive.NewLock)) })
}

func noticed(t *testing.T, recipe, name string, f family) {
	strikes, weak := weaknesses()[recipe+": "+name]
	if weak {
		if wrong := underFaults(t, recipe, f.right, 0, strikes); wrong != "" {
			t.Errorf("the form that is right: %s", wrong)
		}
	}
	for seed := range uint64(12) {
		if wrong := underFaults(t, recipe, f.mutants[name], seed, strikes); wrong != "" {
			t.Logf("seed %d: %s", seed, wrong)
			return
		}
	}
	t.Errorf("a %s that %s gets through", recipe, name)
}

// getsThrough runs a correct form under a random schedule. The catalogue's tests do the same with
// more schedules.
func getsThrough(t *testing.T, recipe string, form made) {
	if wrong := underFaults(t, recipe, form, 0, nil); wrong != "" {
		t.Error(wrong)
	}
}

// TestTablesOfMutantsUnderFaults checks that each mutant named in a table exists.
func TestTablesOfMutantsUnderFaults(t *testing.T) {
	all := families()
	known := map[string]bool{}
	for recipe, f := range all {
		for name := range f.mutants {
			known[recipe+": "+name] = true
		}
	}
	for name := range weaknesses() {
		if !known[name] {
			t.Errorf("%s: there is no such mutant", name)
		}
	}
	for name := range hidden() {
		if !known[name] {
			t.Errorf("%s: there is no such mutant", name)
		}
	}
}

// weaknesses returns the faults that strike where random schedules rarely do.
func weaknesses() map[string]faults.Schedule {
	lose := func(reply string) faults.Schedule {
		return again(500*time.Millisecond, "lose clients=all reply="+reply)
	}
	return map[string]faults.Schedule{
		"barrier: asks only once":                        lose("exists"),
		"config: asks only once":                         lose("get"),
		"double-barrier: asks only once":                 lose("list"),
		"double-barrier: does not look for its GUID":     lose("create"),
		"election: acknowledges for good":                again(time.Second, "expire holder"),
		"group: does not look for its GUID":              lose("create"),
		"lock: asks only once":                           lose("list"),
		"lock: deletes what others made":                 lose("delete"),
		"lock: does not look for its GUID":               lose("create"),
		"names: asks only once":                          lose("get"),
		"queue: asks only once":                          lose("list"),
		"queue: puts again":                              lose("create"),
		"queue: takes a lost reply for a failure":        lose("delete"),
		"revocable-lock: asks only once":                 lose("set"),
		"revocable-lock: uses force and does not say so": again(1200*time.Millisecond, "freeze holder for=1100ms"),
		"two-phase-commit: asks only once":               lose("get"),
		"two-phase-commit: does not look for its GUID":   lose("create"),
		"two-phase-commit: does not see earlier votes":   again(5*time.Second, "delay clients=all by=30ms for=6s"),
		"two-phase-commit: forgets votes":                afterTheVote(),
	}
}

// afterTheVote expires a client's session between its vote and the decision. Client 1 is frozen
// until all others have voted and wait for its vote. Client 2 gets no new session before the
// decision, because it is frozen until then.
func afterTheVote() faults.Schedule {
	return again(250*time.Millisecond, "freeze client=1 for=300ms", "freeze client=2, expire after=10ms, thaw after=140ms")
}

// again repeats the faults in turn, one per interval.
func again(every time.Duration, deeds ...string) (s faults.Schedule) {
	for n := 0; time.Duration(n+2)*every < struck; n++ {
		f, err := faults.Parse(fmt.Sprintf("at=%v %s", time.Duration(n+1)*every, deeds[n%len(deeds)]))
		if err != nil {
			panic(err) // the faults in this file are invalid
		}
		s = append(s, f)
	}
	return s
}

// struck is the duration of a run under faults.
const struck = 12 * time.Second

// hidden returns the mutants that are not tried here, and why: all but one cannot be detected in
// a run. The cases of the suites detect them.
func hidden() map[string]string {
	all := map[string]string{
		"barrier: goes with who set it":                   "who sets it is no client, so that no faults are done to it",
		"double-barrier: lets out whoever wants to leave": "it ends its session, after which nothing is promised any more",
		"election: does not acknowledge":                  "nobody looks for the acknowledgement",
		"lock: does not end the hold":                     "a belief of one who has lost its session is no violation",
		"names: keeps for ever":                           "it spins on what it keeps, which takes as long to try as all others",
		"names: watches when it has read":                 "no change comes between its two requests, which follow on each other at once",
		"priority-queue: never doubts its list":           "two consumers leave no list long enough to be overtaken",
		"queue: keeps ephemeral items":                    "items of a run are not ephemeral",
	}
	for why, names := range map[string][]string{
		"it only costs more": {"barrier: looks twice", "config: reads twice", "double-barrier: looks twice", "group: herds",
			"lock: herds", "lock: lists twice", "queue: herds", "queue: reads twice", "revocable-lock: looks twice",
			"shared-lock: lets nobody share", "two-phase-commit: looks twice"},
		"in a run nobody gives up whose session goes on": {"config: does not give up", "config: does not say why it ended",
			"double-barrier: leaves its node when it gives up", "group: leaves when it stops following",
			"lock: does not say why it failed", "lock: leaves its node when it gives up", "names: does not say why it failed",
			"queue: does not say why it failed", "queue: drops what it has when it gives up",
			"revocable-lock: does not say why nobody asks", "two-phase-commit: ends it all when it gives up",
			"two-phase-commit: says nothing when it gives up"},
		"who is not asked, or asked for nothing, gives way at the end of its hold": {"revocable-lock: asks nobody",
			"revocable-lock: asks one reader of several", "revocable-lock: takes everything for a request"},
	} {
		for _, name := range names {
			all[name] = why
		}
	}
	return all
}

// underFaults runs a form under the given faults, or under random ones drawn from the seed if there
// are none. It returns what was wrong.
func underFaults(t *testing.T, recipe string, form made, seed uint64, strikes faults.Schedule) (wrong string) {
	bubble.Test(t, func(t *testing.T) {
		s, err := backends.InProcess()
		if err != nil {
			t.Fatal(err)
		}
		defer closed(t, s)
		// Revocations are frequent enough for one to come while the lock's holder is frozen.
		p := workloads.Plan{Service: s, Form: workloads.Form{Recipe: recipe, Name: "tried", Family: workloads.Recipe, New: form},
			Clients: 4, Duration: struck, Seed: seed, Faults: strikes,
			Settings: workloads.Settings{Hold: 50 * time.Millisecond, Think: 20 * time.Millisecond, RevokeEvery: 2}}
		if strikes == nil {
			p.Faults = p.Nemesis(p.Seed, 1500*time.Millisecond)
		}
		r, err := workloads.Run(t.Context(), p)
		switch {
		case err != nil:
			wrong = err.Error()
		case r.Safety.Violations > 0:
			wrong = r.Safety.Details[0]
		case slices.ContainsFunc(r.Doubts, func(d metrics.Warning) bool { return d.Code == metrics.Abandoned }):
			wrong = "it came to a stop"
		}
	})
	return wrong
}
