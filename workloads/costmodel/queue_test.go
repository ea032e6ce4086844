package costmodel

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/metrics"
)

// settledQueue has the first consumer take M items. Then the others arrive, and one item
// for each of them.
func settledQueue(steps func(*consumer), p Params, choose func(int) int) *desk {
	d := newDesk(steps, p.Clients)
	for range p.Items {
		d.last++
		d.items = append(d.items, d.last)
	}
	for range p.Items {
		d.consumers[0].begin()
		d.rest(choose)
	}
	for _, c := range d.consumers[1:] {
		c.begin()
		d.rest(choose)
	}
	for range d.consumers[1:] {
		d.put()
		d.rest(choose)
	}
	return d
}

// orders returns the orders in which runnable consumers may move: the first of them until
// it stops, all of them step by step, or a random one.
func orders() map[string]func(int) int {
	turn := 0
	rng := rand.New(rand.NewPCG(1, 2))
	return map[string]func(int) int{
		"one after the other": func(int) int { return 0 },
		"abreast":             func(n int) int { turn++; return turn % n },
		"at random":           rng.IntN,
	}
}

func TestSettledQueuesAreWithinTheirBounds(t *testing.T) {
	for form, steps := range queueForms() {
		recipe, name, _ := strings.Cut(form, "/")
		model, ok := ModelOf(recipe, name)
		if !ok {
			t.Fatalf("no model of %s", form)
		}
		for _, n := range []int64{1, 2, 3, 5, 8, 16} {
			for _, m := range []int64{0, 1, 5} {
				p := Params{Clients: n, Items: m}
				least := model.Settled(p)
				low, high := values(least), values(least.Upper())
				for order, choose := range orders() {
					d := settledQueue(steps, p, choose)
					got := [...]int64{d.counts.Notifications, d.counts.Reads, d.counts.Writes, d.counts.FailedWrites, d.largest}
					for i := range got {
						if got[i] < low[i] || got[i] > high[i] {
							t.Errorf("%s with %+v, %s: simulated %v, formulas %v to %v", form, p, order, got, low, high)
							break
						}
					}
				}
			}
		}
	}
}

// TestTheBoundsOfQueuesAreReached checks that both bounds are reached, so neither can be tighter.
func TestTheBoundsOfQueuesAreReached(t *testing.T) {
	for _, form := range []string{"queue/cached-list", "queue/relist"} {
		_, name, _ := strings.Cut(form, "/")
		model, _ := ModelOf("queue", name)
		p := Params{Clients: 8, Items: 5}
		least := model.Settled(p)
		for want, choose := range map[[5]int64]func(int) int{
			values(least):         func(int) int { return 0 },
			values(least.Upper()): inStep(),
		} {
			d := settledQueue(queueForms()[form], p, choose)
			got := [...]int64{d.counts.Notifications, d.counts.Reads, d.counts.Writes, d.counts.FailedWrites, d.largest}
			if got != want {
				t.Errorf("%s: simulated %v, want %v", form, got, want)
			}
		}
	}
}

// inStep lets all runnable consumers list before any reads, and read before any deletes:
// it takes them round-robin while their number stays the same.
func inStep() func(int) int {
	turn, before := -1, 0
	return func(n int) int {
		if n != before {
			turn, before = -1, n
		}
		turn = (turn + 1) % n
		return turn
	}
}

func TestQueueIdentitiesHoldUnderAnySchedule(t *testing.T) {
	const items = 40
	for form, steps := range queueForms() {
		recipe, name, _ := strings.Cut(form, "/")
		model, _ := ModelOf(recipe, name)
		for seed := range uint64(200) {
			d := scramble(steps, rand.New(rand.NewPCG(seed, 0)), items)
			for _, i := range model.Identities {
				if left, right, holds := i.Check(d.counts, items, 0); !holds {
					t.Errorf("%s, seed %d: %s does not hold: %d and %d", form, seed, i.Formula, left, right)
				}
			}
		}
	}
}

// scramble has seven consumers take items that arrive at random.
func scramble(steps func(*consumer), rng *rand.Rand, items int) *desk {
	d := newDesk(steps, 7)
	for begun, put, taken := 0, 0, 0; taken < items; {
		c := d.consumers[rng.IntN(len(d.consumers))]
		switch {
		case put < items && rng.IntN(4) == 0:
			d.put()
			put++
		case c.next == nil && begun < items:
			c.begin()
			begun++
		case c.runnable():
			before := c.taken
			c.move()
			taken += c.taken - before
		}
	}
	return d
}

// TestQueueIdentitiesFail checks that every identity can fail: more operations of some kind
// break it.
func TestQueueIdentitiesFail(t *testing.T) {
	const items = 40
	for form, steps := range queueForms() {
		wantFailing(t, form, scramble(steps, rand.New(rand.NewPCG(1, 1)), items).counts, items, 0, manyMore)
	}
}

var manyMore = []func(*metrics.Counts){
	func(c *metrics.Counts) { c.Notifications += 1000 },
	func(c *metrics.Counts) { c.Reads += 1000 },
	func(c *metrics.Counts) { c.Writes++ },
	func(c *metrics.Counts) { c.FailedWrites += 1000 },
	func(c *metrics.Counts) { c.Lists += 1000 },
	func(c *metrics.Counts) { c.WatchedExists += 1000 },
}

// TestGoldenQueues has the costs of eight clients and five items as numbers, so that a
// changed formula is noticed.
func TestGoldenQueues(t *testing.T) {
	for form, want := range map[string][2][5]int64{
		"queue/cached-list":          {{36, 48, 19, 0, 7}, {57, 90, 40, 21, 7}},
		"queue/one-watcher":          {{13, 62, 43, 0, 1}, {13, 62, 43, 0, 1}},
		"queue/relist":               {{40, 52, 19, 0, 7}, {61, 94, 40, 21, 7}},
		"priority-queue/invalidate":  {{40, 52, 19, 0, 7}, {61, 94, 40, 21, 7}},
		"priority-queue/one-watcher": {{13, 62, 43, 0, 1}, {13, 62, 43, 0, 1}},
		"priority-queue/relist":      {{40, 52, 19, 0, 7}, {61, 94, 40, 21, 7}},
	} {
		recipe, name, _ := strings.Cut(form, "/")
		model, _ := ModelOf(recipe, name)
		least := model.Settled(Params{Clients: 8, Items: 5})
		if got := [...][5]int64{values(least), values(least.Upper())}; got != want {
			t.Errorf("%s: %v, want %v", form, got, want)
		}
	}
}
