package cost

import (
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/metrics"
)

// This file simulates recipes whose rounds include all clients. Each client plays its
// parts, one in each phase of the round.

// part is what one client does in one phase, written like the form. It calls op before
// each operation.
type part func(a *actor, op func())

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

// enrol creates an actor that plays the parts in order. After the last part, holds is
// set for good.
func (w *world) enrol(parts ...part) *actor {
	a := &actor{world: w}
	next, _ := iter.Pull(func(yield func(struct{}) bool) {
		for _, p := range parts {
			p(a, func() { yield(struct{}{}) })
		}
	})
	a.program = func(a *actor) {
		_, more := next()
		a.holds = !more
	}
	return a
}

// settle plays the cast one step at a time. Polling clients poll q times before the last
// phase is over.
func (w *world) settle(t *testing.T, c cast, q int64) {
	t.Helper()
	var actors []*actor
	for i, p := range c.phases {
		parts := slices.Clone(p.parts)
		if p.last {
			slices.Reverse(parts)
		}
		if i == len(c.phases)-1 {
			for range q - 1 {
				tick(actors)
			}
		}
		for _, part := range parts {
			if part != nil {
				actors = append(actors, w.enrol(part))
				rest(actors)
			}
		}
	}
	tick(actors)
	if slices.ContainsFunc(actors, func(a *actor) bool { return !a.holds }) {
		t.Fatal("everybody sleeps")
	}
}

// scramble plays the cast in random order.
func (w *world) scramble(t *testing.T, c cast, rng *rand.Rand) {
	t.Helper()
	var actors []*actor
	for i := range len(c.phases[0].parts) {
		var parts []part
		for _, p := range c.phases {
			if p.parts[i] != nil {
				parts = append(parts, p.parts[i])
			}
		}
		actors = append(actors, w.enrol(parts...))
	}
	for len(actors) > 0 {
		able := slices.DeleteFunc(slices.Clone(actors), func(a *actor) bool { return a.waiting != nil })
		if len(able) == 0 {
			t.Fatal("everybody sleeps")
		}
		a := able[rng.IntN(len(able))]
		a.paused = false
		a.program(a)
		if a.holds {
			actors = slices.Delete(actors, slices.Index(actors, a), slices.Index(actors, a)+1)
		}
	}
	c.strike(w)
}

// casts returns the forms of recipes whose rounds include all clients, for n clients.
func casts() map[string]func(w *world, n int64) cast {
	return map[string]func(w *world, n int64) cast{
		"barrier/watch": barrierCast(func(a *actor, op func(), barrier int) bool { return a.existsWatched(op, barrier) }),
		"barrier/poll":  barrierCast(func(a *actor, op func(), barrier int) bool { return a.existsPolled(op, barrier) }),

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
		for _, i := range modelOf(t, name).Identities {
			fails := slices.ContainsFunc(oneMore, func(more func(*metrics.Counts)) bool {
				w, _ := newWorld(nil, 0)
				w.scramble(t, makeCast(w, 1), rand.New(rand.NewPCG(1, 0)))
				for range 9 { // inequalities leave room
					more(&w.counts)
				}
				_, _, holds := i.Check(w.counts, 1)
				return !holds
			})
			if !fails {
				t.Errorf("%s: %s holds whatever is counted", name, i.Formula)
			}
		}
	}
}

// barrierCast has n clients that look until the barrier is gone, and one client that opens it.
func barrierCast(gone func(a *actor, op func(), barrier int) bool) func(*world, int64) cast {
	return func(w *world, n int64) cast {
		barrier := w.given()
		wait, open := phase{parts: make([]part, n+1)}, phase{parts: make([]part, n+1)}
		for i := range n {
			wait.parts[i] = func(a *actor, op func()) {
				for !gone(a, op, barrier) {
				}
			}
		}
		open.parts[n] = func(a *actor, op func()) {
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
func (a *actor) existsWatched(op func(), node int) (gone bool) {
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

// await parks the actor until the watch has fired.
func (a *actor) await(op func(), w *watch) {
	if !w.fired {
		a.waiting = w
		op()
	}
}

// existsPolled looks for a node. If the node exists, the actor pauses and existsPolled
// returns false.
func (a *actor) existsPolled(op func(), node int) (gone bool) {
	op()
	a.world.counts.Reads++
	if !slices.Contains(a.world.nodes, node) {
		return true
	}
	a.paused = true
	return false
}
