package costmodel

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/metrics"
)

// rest runs all runnable simClients that do not hold the lock, until none is left.
func rest(simClients []*simClient) {
	for moved := true; moved; {
		moved = false
		for _, a := range simClients {
			for a.runnable() && !a.holds {
				a.program(a)
				moved = true
			}
		}
	}
}

func tick(simClients []*simClient) {
	for _, a := range simClients {
		a.paused = false
	}
	rest(simClients)
}

// settled has the simClients arrive one at a time and then release one at a time.
func settled(program func(*simClient), p Params) *world {
	w, simClients := newWorld(program, p.Clients)
	for i := range simClients {
		simClients[i].reads = int64(i) >= p.Writers
		rest(simClients[:i+1])
	}
	for len(simClients) > 0 {
		for range p.Polls - 1 {
			tick(simClients)
		}
		i := slices.IndexFunc(simClients, func(a *simClient) bool { return a.holds })
		simClients[i].release()
		simClients = slices.Delete(simClients, i, i+1)
		rest(simClients)
		tick(simClients)
	}
	return w
}

func TestSettledEqualsSimulation(t *testing.T) {
	for form, program := range programs() {
		model := modelOf(t, form)
		for _, p := range settings() {
			want := model.Settled(p)
			w := settled(program, p)
			got := [...]int64{w.counts.Notifications, w.counts.Reads, w.counts.Writes, w.counts.FailedWrites, w.largest}
			if got != values(want) {
				t.Errorf("%s with %+v: simulated %v, formulas %v", form, p, got, values(want))
			}
			checkIdentities(t, form, model, w.counts, p.Clients)
		}
	}
}

// settings are the parameters for which the settled costs are compared with the simulation.
func settings() (all []Params) {
	for _, n := range []int64{1, 2, 3, 5, 8, 16} {
		for _, q := range []int64{1, 2, 5} {
			for _, w := range []int64{1, 2, 3, n / 2, n} {
				if 1 <= w && w <= n {
					all = append(all, Params{Clients: n, Polls: q, Writers: w})
				}
			}
		}
	}
	return all
}

// modelOf returns the model of the form with this full name.
func modelOf(t *testing.T, form string) Model {
	t.Helper()
	recipe, name, _ := strings.Cut(form, "/")
	m, ok := ModelOf(recipe, name)
	if !ok {
		t.Fatalf("no model of %s", form)
	}
	return m
}

func TestIdentitiesHoldUnderAnySchedule(t *testing.T) {
	const clients, turns = 7, 5
	for form, program := range programs() {
		model := modelOf(t, form)
		for seed := range uint64(200) {
			rng := rand.New(rand.NewPCG(seed, 0))
			w, simClients := newWorld(program, clients)
			for len(simClients) > 0 {
				i := rng.IntN(len(simClients))
				a := simClients[i]
				a.paused = false
				switch {
				case a.turns == turns:
					simClients = slices.Delete(simClients, i, i+1)
				case a.holds:
					a.release()
				case a.runnable():
					if a.step == 0 {
						a.reads = rng.IntN(2) == 0
					}
					a.program(a)
				}
			}
			checkIdentities(t, form, model, w.counts, clients*turns)
		}
	}
}

func checkIdentities(t *testing.T, form string, m Model, c metrics.Counts, rounds int64) {
	t.Helper()
	if len(m.Identities) == 0 {
		t.Errorf("%s has no identities", form)
	}
	for _, i := range m.Identities {
		if left, right, holds := i.Check(c, rounds, 0); !holds {
			t.Errorf("%s after %d rounds: %s does not hold: %d and %d", form, rounds, i.Formula, left, right)
		}
	}
}

// TestIdentitiesFail checks that every identity can fail: one more operation of some kind
// breaks it.
func TestIdentitiesFail(t *testing.T) {
	const clients = 4
	for form, program := range programs() {
		counts := settled(program, Params{Clients: clients, Polls: 2, Writers: 2}).counts
		wantFailing(t, form, counts, clients, 0, oneMore)
	}
}

// wantFailing checks that each identity of a form can fail: at least one change of the counts breaks it.
func wantFailing(t *testing.T, form string, counts metrics.Counts, rounds, clients int64, changes []func(*metrics.Counts)) {
	t.Helper()
	for _, i := range modelOf(t, form).Identities {
		if !slices.ContainsFunc(changes, func(change func(*metrics.Counts)) bool {
			changed := counts
			change(&changed)
			_, _, holds := i.Check(changed, rounds, clients)
			return !holds
		}) {
			t.Errorf("%s: %s holds whatever is counted", form, i.Formula)
		}
	}
}

// eachTimes returns changes that are each made n times, since inequalities leave room.
func eachTimes(n int, changes []func(*metrics.Counts)) (all []func(*metrics.Counts)) {
	for _, change := range changes {
		all = append(all, func(c *metrics.Counts) {
			for range n {
				change(c)
			}
		})
	}
	return all
}

var oneMore = []func(*metrics.Counts){
	func(c *metrics.Counts) { c.Notifications++ },
	func(c *metrics.Counts) { c.Reads++ },
	func(c *metrics.Counts) { c.Writes++ },
	func(c *metrics.Counts) { c.FailedWrites++ },
	func(c *metrics.Counts) { c.Lists++ },
	func(c *metrics.Counts) { c.WatchedExists++ },
}

// TestGolden has the costs of eight clients, three of them writers, as numbers, so that a
// changed formula is noticed.
func TestGolden(t *testing.T) {
	for form, want := range map[string][5]int64{
		"lock/predecessor":    {7, 22, 16, 0, 1},
		"lock/one-node":       {28, 28, 44, 28, 7},
		"lock/children-watch": {57, 57, 16, 0, 7},
		"lock/poll":           {0, 8 + 3*28, 16, 0, 0},
		"lock/go-zookeeper":   {7, 22, 16, 0, 1},

		"shared-lock/nearest":        {7, 22, 16, 0, 5},
		"shared-lock/children-watch": {47, 47, 16, 0, 7},
		"shared-lock/lowest-write":   {17, 42, 16, 0, 6},

		"election/predecessor":    {7, 22, 16, 0, 1},
		"election/acknowledged":   {7, 22, 32, 0, 1},
		"election/watch-leader":   {28, 64, 16, 0, 7},
		"election/children-watch": {57, 57, 16, 0, 7},
		"election/one-node":       {28, 28, 44, 28, 7},
		"election/poll":           {0, 92, 16, 0, 0},
	} {
		model := modelOf(t, form)
		if got := values(model.Settled(Params{Clients: 8, Polls: 3, Writers: 3})); got != want {
			t.Errorf("%s: got %v, want %v", form, got, want)
		}
	}
}

func TestOfUnknownForm(t *testing.T) {
	if _, ok := ModelOf("lock", "unknown"); ok {
		t.Error("there is a model of a form that does not exist")
	}
}

func values(e Expected) [5]int64 {
	return [...]int64{e.Notifications.Value, e.Reads.Value, e.Writes.Value, e.FailedWrites.Value, e.LargestFanout.Value}
}

// An identity fixes a count if one side is that count alone and the other depends on the rounds alone, and
// says so if and only if it does.
func TestIdentitiesSayWhatTheyFix(t *testing.T) {
	const rounds = 7
	fixing := 0
	for form, model := range models() {
		for _, i := range model.Identities {
			left := func(c metrics.Counts) int64 { l, _, _ := i.Check(c, rounds, 0); return l }
			right := func(c metrics.Counts) int64 { _, r, _ := i.Check(c, rounds, 0); return r }
			most := metrics.Counts{Notifications: 1 << 40, Reads: 2 << 40, Writes: 3 << 40, FailedWrites: 4 << 40, Lists: 5 << 40,
				WatchedExists: 6 << 40, WatchedMisses: 7 << 40, WatchedGets: 8 << 40, MissedGets: 9 << 40}
			fixes := ""
			for name, count := range map[string]int64{"notifications": most.Notifications, "reads": most.Reads, "writes": most.Writes, "failed_writes": most.FailedWrites} {
				if !strings.Contains(i.Formula, "≤") && left(metrics.Counts{}) == 0 && left(most) == count && right(most) == right(metrics.Counts{}) {
					fixes = name
				}
			}
			if i.Fixes() != fixes {
				t.Errorf("%s: %s fixes %q, want %q", form, i.Formula, i.Fixes(), fixes)
			}
			if fixes != "" {
				fixing++
			}
		}
	}
	if fixing == 0 {
		t.Error("no identity fixes a count")
	}
}
