package costmodel

import (
	"iter"
	"math/rand/v2"
	"slices"
	"testing"
)

// This file simulates recipes whose rounds include all clients. Each client plays its
// parts, one in each phase of the round.

// part is what one client does in one phase, written like the form. It calls op before
// each operation.
type part func(a *simClient, op func())

// cast is the set of all clients' parts in one round.
type cast struct {
	phases []phase
	// strike removes what is left of the round. It counts only the notifications.
	strike func(w *world)
}

// phase has one part for each client, or nil for clients without a part.
type phase struct {
	parts []part
	last  bool // in a settled run, the last client begins
}

// nothing is a strike that removes nothing.
func nothing(*world) {}

// enrol creates an simClient that plays the parts in order. After the last part, holds is
// set for good.
func (w *world) enrol(parts ...part) *simClient {
	a := &simClient{world: w}
	next, _ := iter.Pull(func(yield func(struct{}) bool) {
		for _, p := range parts {
			p(a, func() { yield(struct{}{}) })
		}
	})
	a.program = func(a *simClient) {
		_, more := next()
		a.holds = !more
	}
	return a
}

// settle plays the cast one step at a time. Polling clients poll q times before the last
// phase is over.
func (w *world) settle(t *testing.T, c cast, q int64) {
	t.Helper()
	var simClients []*simClient
	for i, p := range c.phases {
		parts := slices.Clone(p.parts)
		if p.last {
			slices.Reverse(parts)
		}
		if i == len(c.phases)-1 {
			for range q - 1 {
				tick(simClients)
			}
		}
		for _, part := range parts {
			if part != nil {
				simClients = append(simClients, w.enrol(part))
				rest(simClients)
			}
		}
	}
	tick(simClients)
	if slices.ContainsFunc(simClients, func(a *simClient) bool { return !a.holds }) {
		t.Fatal("all clients wait")
	}
}

// scramble plays the cast in random order.
func (w *world) scramble(t *testing.T, c cast, rng *rand.Rand) {
	t.Helper()
	var simClients []*simClient
	for i := range len(c.phases[0].parts) {
		var parts []part
		for _, p := range c.phases {
			if p.parts[i] != nil {
				parts = append(parts, p.parts[i])
			}
		}
		simClients = append(simClients, w.enrol(parts...))
	}
	for len(simClients) > 0 {
		able := slices.DeleteFunc(slices.Clone(simClients), func(a *simClient) bool { return a.waiting != nil })
		if len(able) == 0 {
			t.Fatal("all clients wait")
		}
		a := able[rng.IntN(len(able))]
		a.paused = false
		a.program(a)
		if a.holds {
			simClients = slices.Delete(simClients, slices.Index(simClients, a), slices.Index(simClients, a)+1)
		}
	}
	c.strike(w)
}

// casts returns the forms of recipes whose rounds include all clients, for n clients.
func casts() map[string]func(w *world, n int64) cast {
	return map[string]func(w *world, n int64) cast{
		"barrier/watch": barrierCast(func(a *simClient, op func(), barrier int) bool { return a.existsWatched(op, barrier) }),
		"barrier/poll":  barrierCast(func(a *simClient, op func(), barrier int) bool { return a.existsPolled(op, barrier) }),

		"double-barrier/ready":          doubleBarrierCast(enterReady, leaveReady),
		"double-barrier/sequential":     doubleBarrierCast(enterReady, leaveSequential),
		"double-barrier/children-watch": doubleBarrierCast(enterChildrenWatch, leaveChildrenWatch),

		"two-phase-commit/coordinator":     commitCast(false, true),
		"two-phase-commit/ephemeral-sites": commitCast(true, true),
		"two-phase-commit/all-watch-all":   commitCast(false, false),
	}
}

func TestTogetherSettledEqualsSimulation(t *testing.T) {
	for name, makeCast := range casts() {
		model := modelOf(t, name)
		for _, n := range []int64{1, 2, 3, 5, 8, 16} {
			for _, q := range []int64{1, 2, 5} {
				p := Params{Clients: n, Polls: q}
				w, _ := newWorld(nil, 0)
				w.settle(t, makeCast(w, n), q)
				got := [...]int64{w.counts.Notifications, w.counts.Reads, w.counts.Writes, w.counts.FailedWrites, w.largest}
				if want := model.Settled(p); got != values(want) {
					t.Errorf("%s with %+v: simulated %v, formulas %v", name, p, got, values(want))
				}
			}
		}
	}
}

func TestTogetherIdentitiesHoldUnderAnySchedule(t *testing.T) {
	const rounds = 5
	for name, makeCast := range casts() {
		model := modelOf(t, name)
		for seed := range uint64(200) {
			rng := rand.New(rand.NewPCG(seed, 0))
			w, _ := newWorld(nil, 0)
			for range rounds {
				w.scramble(t, makeCast(w, 1+rng.Int64N(7)), rng)
			}
			checkIdentities(t, name, model, w.counts, rounds)
		}
	}
}

func TestTogetherIdentitiesFail(t *testing.T) {
	for name, makeCast := range casts() {
		w, _ := newWorld(nil, 0)
		w.scramble(t, makeCast(w, 1), rand.New(rand.NewPCG(1, 0)))
		wantFailing(t, name, w.counts, 1, 0, eachTimes(9, oneMore))
	}
}

// barrierCast has n clients that look until the barrier is gone, and one client that opens it.
func barrierCast(gone func(a *simClient, op func(), barrier int) bool) func(*world, int64) cast {
	return func(w *world, n int64) cast {
		barrier := w.given()
		wait, open := phase{parts: make([]part, n+1)}, phase{parts: make([]part, n+1)}
		for i := range n {
			wait.parts[i] = func(a *simClient, op func()) {
				for !gone(a, op, barrier) {
				}
			}
		}
		open.parts[n] = func(a *simClient, op func()) {
			op()
			w.remove(barrier)
		}
		return cast{[]phase{wait, open}, nothing}
	}
}

// given creates a node without counting it.
func (w *world) given() int {
	before := w.counts
	node := w.createNext()
	w.counts = before
	return node
}

// existsWatched looks for a node with a watch. If the node exists, it waits for the watch
// and returns false.
func (a *simClient) existsWatched(op func(), node int) (gone bool) {
	op()
	w := a.world
	w.counts.Reads++
	w.counts.WatchedExists++
	nw := w.watchNode(a, node)
	if !slices.Contains(w.nodes, node) {
		w.counts.WatchedMisses++
		return true
	}
	a.await(op, nw)
	return false
}

// await parks the simClient until the watch has fired.
func (a *simClient) await(op func(), w *watch) {
	if !w.fired {
		a.waiting = w
		op()
	}
}

// existsPolled looks for a node. If the node exists, the simClient pauses and existsPolled
// returns false.
func (a *simClient) existsPolled(op func(), node int) (gone bool) {
	op()
	a.world.counts.Reads++
	if !slices.Contains(a.world.nodes, node) {
		return true
	}
	a.paused = true
	return false
}
