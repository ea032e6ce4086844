package recipetest

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/cluster/faults"
	"github.com/stampede-bench/stampede/internal/bubble"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

// TestMutantsUnderFaults checks that faults in a run expose mutants too: a mutant violates safety,
// fails or stops making progress under at least one of twelve schedules, which are random, or
// which strike where the form is weak. The correct forms pass all schedules that expose one of
// their mutants.
func TestMutantsUnderFaults(t *testing.T) {
	testenv.SkipIfShort(t)
	all := families()
	for _, recipe := range slices.Sorted(maps.Keys(all)) {
		f := all[recipe]
		for _, name := range slices.Sorted(maps.Keys(f.mutants)) {
			if _, is := hidden()[recipe+": "+name]; is {
				continue
			}
			t.Run(recipe+"/"+name, func(t *testing.T) { isDetected(t, recipe, name, f) })
		}
		t.Run(recipe+"/right", func(t *testing.T) { passes(t, recipe, f.right) })
	}
	t.Run("lock/right/one-node", func(t *testing.T) { passes(t, "lock", recipe.Locks(naive.NewLock)) })
}

func isDetected(t *testing.T, recipe, name string, f family) {
	strikes, weak := weaknesses()[recipe+": "+name]
	if weak {
		if wrong := underFaults(t, recipe, f.right, 0, strikes); wrong != "" {
			t.Errorf("the correct form: %s", wrong)
		}
	}
	for seed := range uint64(12) {
		if wrong := underFaults(t, recipe, f.mutants[name], seed, strikes); wrong != "" {
			t.Logf("seed %d: %s", seed, wrong)
			return
		}
	}
	t.Errorf("no schedule exposed a %s that %s", recipe, name)
}

// passes runs a correct form under a random schedule. The catalogue's tests do the same with
// more schedules.
func passes(t *testing.T, recipe string, form made) {
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
			t.Errorf("%s: no such mutant", name)
		}
	}
	for name := range hidden() {
		if !known[name] {
			t.Errorf("%s: no such mutant", name)
		}
	}
}

// weaknesses returns the faults that strike where random schedules rarely do.
func weaknesses() map[string]faults.Schedule {
	lose := func(reply string) faults.Schedule {
		return again(500*time.Millisecond, "lose clients=all reply="+reply)
	}
	return map[string]faults.Schedule{
		"barrier: does not retry":                              lose("exists"),
		"config: does not retry":                               lose("get"),
		"double-barrier: does not retry":                       lose("list"),
		"double-barrier: does not look for its GUID":           lose("create"),
		"election: acknowledges with a persistent node":        again(time.Second, "expire holder"),
		"group: does not look for its GUID":                    lose("create"),
		"lock: does not retry":                                 lose("list"),
		"lock: deletes what others made":                       lose("delete"),
		"lock: does not look for its GUID":                     lose("create"),
		"member-state: repeats an update whose reply was lost": lose("set"),
		"mirror: does not retry":                               lose("get"),
		"mirror: misses deletions while disconnected":          lose("get"),
		"mutual-watch: does not look for its GUID":             lose("create"),
		"names: does not retry":                                lose("get"),
		"queue: does not retry":                                lose("list"),
		"queue: repeats a put":                                 lose("create"),
		"queue: treats a lost reply as a failure":              lose("delete"),
		"priority-lock: does not retry":                        lose("set"),
		"priority-lock: hides that it deposes holders":         again(1200*time.Millisecond, "freeze holder for=1100ms"),
		"revocable-lock: does not retry":                       lose("set"),
		"revocable-lock: hides that it deposes holders":        again(1200*time.Millisecond, "freeze holder for=1100ms"),
		"two-phase-commit: does not retry":                     lose("get"),
		"two-phase-commit: does not look for its GUID":         lose("create"),
		"two-phase-commit: does not see earlier votes":         again(5*time.Second, "delay clients=all by=30ms for=6s"),
		"two-phase-commit: forgets votes":                      afterTheVote(),
	}
}

// afterTheVote expires a client's session between its vote and the decision. Client 1 is frozen
// until all others have voted and wait for its vote. Client 2 gets no new session before the
// decision, because it is frozen until then.
func afterTheVote() faults.Schedule {
	return again(250*time.Millisecond, "freeze client=1 for=300ms", "freeze client=2, expire after=10ms, thaw after=140ms")
}

// again repeats the faults in turn, one per interval.
func again(every time.Duration, actions ...string) (s faults.Schedule) {
	for n := 0; time.Duration(n+2)*every < faultyRun; n++ {
		f, err := faults.Parse(fmt.Sprintf("at=%v %s", time.Duration(n+1)*every, actions[n%len(actions)]))
		if err != nil {
			panic(err) // the faults in this file are invalid
		}
		s = append(s, f)
	}
	return s
}

// faultyRun is the duration of a run under faults.
const faultyRun = 12 * time.Second

// hidden returns the mutants that are not tried here, and why: all but one cannot be detected in
// a run. The cases of the suites detect them.
func hidden() map[string]string {
	all := map[string]string{
		"barrier: is deleted with its setter's session": "the session that sets it is not a client, so no fault affects it",
		"double-barrier: lets out every client at once": "it ends its session, and the barrier promises nothing after that",
		"election: does not acknowledge":                "no client reads the acknowledgement",
		"lock: does not end the held context":           "the belief of a client that has lost its session is no violation",
		"member-state: takes a lost reply for success":  "nearly every set whose reply a fault loses was applied",
		"names: never invalidates its cache":            "it spins on its cached value, and trying it takes as long as all others",
		"names: watches after it has read":              "no change comes between its two requests, which follow each other immediately",
		"priority-queue: never invalidates its list":    "two consumers leave no list long enough for another item to overtake",
		"reconnect: tries again what was refused":       "no client of a run is refused",
		"reconnect: hides the cause of its end":         "in a run no client cancels and none is refused",
		"reconnect: treats a lost session as final":     "few sessions are lost between their opening and the registration",
		"reconnect: ignores cancellation":               "in a run no client cancels while its session is alive",
		"queue: makes items persistent":                 "items of a run are not ephemeral",
	}
	for why, names := range map[string][]string{
		"it only costs more": {"member-state: reads twice", "member-state: watches what it reads", "mutual-watch: has one watch",
			"barrier: reads twice", "config: reads twice", "double-barrier: reads twice", "group: herds",
			"lock: herds", "lock: lists twice", "mirror: reads twice", "priority-lock: lists twice", "priority-lock: does not say that it came between",
			"queue: herds", "queue: reads twice", "revocable-lock: reads twice",
			"shared-lock: shares with no client", "two-phase-commit: reads twice"},
		"in a run no client cancels while its session is alive": {"config: ignores cancellation", "config: hides the cause of its end",
			"member-state: hides the cause of its failure", "mutual-watch: leaves when it stops following", "double-barrier: leaves its node when canceled", "group: leaves when it stops following",
			"lock: hides the cause of its failure", "lock: leaves its node when canceled", "mirror: ignores cancellation", "mirror: hides the cause of its end",
			"names: hides the cause of its failure",
			"queue: hides the cause of its failure", "queue: drops its item when canceled",
			"revocable-lock: hides the cause when no request can come", "two-phase-commit: aborts the transaction when canceled",
			"two-phase-commit: decides nothing when canceled"},
		"a holder that is not asked, or asked without need, releases the lock at the end of its hold": {"priority-lock: sends no request", "revocable-lock: sends no request",
			"revocable-lock: sends a request to one of several readers", "revocable-lock: reports requests that no client made"},
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
		defer closeService(t, s)
		// Revocations are frequent enough for one to come while the lock's holder is frozen.
		p := workloads.Plan{Service: s, Form: workloads.Form{Recipe: recipe, Name: "tried", Family: workloads.Recipe, New: form},
			Clients: 4, Duration: faultyRun, Seed: seed, Faults: strikes,
			Settings: workloads.Settings{Hold: 50 * time.Millisecond, Think: 20 * time.Millisecond, RevokeEvery: 2, Outage: 250 * time.Millisecond}}
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
			wrong = "it stopped making progress"
		}
	})
	return wrong
}
