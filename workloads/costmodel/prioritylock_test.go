package costmodel

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/metrics"
)

// A petitioner is a simClient of a priority lock that writes, one operation at a time. In the line
// the most urgent comes first; the holder is ahead of all.
type petitioner struct {
	simClient
	form     string
	priority int64
	others   *[]*petitioner
	passed   bool // it has written to the node that it came between
	heeds    bool // it has watched its own node
}

func petitioners(form string, n int64) (*world, []*petitioner) {
	w := &world{readers: map[int]bool{}, watches: map[int][]*watch{}}
	all := make([]*petitioner, n)
	for i := range all {
		all[i] = &petitioner{simClient: simClient{world: w}, form: form, others: &all, priority: n - 1 - int64(i)}
	}
	return w, all
}

// line returns those in line: the holder, and the others, the most urgent first.
func (t *petitioner) line() (line []*petitioner) {
	for _, o := range *t.others {
		if slices.Contains(t.world.nodes, o.mine) {
			line = append(line, o)
		}
	}
	slices.SortFunc(line, func(a, b *petitioner) int {
		if a.holds != b.holds {
			if a.holds {
				return -1
			}
			return 1
		}
		if a.priority != b.priority {
			return int(a.priority - b.priority)
		}
		return a.mine - b.mine
	})
	return line
}

// set writes to the node of another client, or, to grant, to the lock's.
func (t *petitioner) set(node int) {
	t.world.counts.Writes++
	if w := t.world; node != flagNode {
		fired := w.watches[node]
		delete(w.watches, node)
		for _, f := range fired {
			if f.owner.waiting == f {
				f.owner.waiting = nil
			}
		}
		w.counts.Notifications += int64(len(fired))
		w.largest = max(w.largest, int64(len(fired)))
	}
}

// look reads the holders and the line, and does what follows, up to its sleep.
func (t *petitioner) look() {
	w := t.world
	w.counts.Reads++
	line := t.line()
	var changed *watch
	w.list()
	if t.form == "priority-lock/children-watch" {
		changed = &watch{owner: &t.simClient}
		w.children = append(w.children, changed)
	}
	i := slices.Index(line, t)
	if i == 0 {
		t.set(flagNode)
		t.holds = true
		return
	}
	newcomer := !t.passed
	t.passed = true
	asks := i == 1 && line[0].holds && t.priority < line[0].priority
	comesBetween := newcomer && i+1 < len(line) && t.form != "priority-lock/children-watch"
	if newcomer && asks || comesBetween {
		t.set(line[i-1].mine)
	}
	switch {
	case t.form == "priority-lock/laser-beams" && asks:
		w.remove(line[0].mine)
		t.look()
	case changed != nil:
		t.waiting = changed
	default:
		await(&t.simClient, line[i-1].mine)
	}
}

// heed reads the requests to the holder, with a watch.
func (t *petitioner) heed() {
	w := t.world
	w.counts.Reads++
	w.counts.WatchedGets++
	if slices.Contains(w.nodes, t.mine) {
		w.watchNode(&t.simClient, t.mine)
	} else {
		w.counts.MissedGets++
	}
}

// leave deletes the client's node, unless another client has done so.
func (t *petitioner) leave() {
	if slices.Contains(t.world.nodes, t.mine) {
		t.holds = false
		t.world.remove(t.mine)
	} else {
		t.world.counts.Writes++
		t.world.counts.FailedWrites++
	}
	t.holds, t.passed, t.mine = false, false, 0
	t.turns++
}

func restPetitioners(all []*petitioner) {
	for moved := true; moved; {
		moved = false
		for _, t := range all {
			if t.mine != 0 && !t.holds && t.waiting == nil {
				t.look()
				moved = true
			}
		}
	}
}

// settledPriorities has all arrive, each more urgent than those before, and then leave one at a time.
func settledPriorities(form string, n int64) *world {
	w, all := petitioners(form, n)
	for i, t := range all {
		t.mine = w.createNext()
		restPetitioners(all[:i+1])
	}
	for gone := 0; gone < len(all); gone++ {
		i := slices.IndexFunc(all, func(t *petitioner) bool { return t.holds })
		if slices.ContainsFunc(all[i+1:], func(t *petitioner) bool { return t.turns == 0 }) {
			all[i].heed()
		}
		all[i].leave()
		restPetitioners(all)
	}
	return w
}

var priorityLocks = []string{"priority-lock/nearest", "priority-lock/laser-beams", "priority-lock/children-watch"}

func TestPrioritiesSettledEqualSimulation(t *testing.T) {
	for _, form := range priorityLocks {
		model := modelOf(t, form)
		for _, n := range []int64{1, 2, 3, 5, 8, 16, 64} {
			want := model.Settled(Params{Clients: n})
			w := settledPriorities(form, n)
			got := [...]int64{w.counts.Notifications, w.counts.Reads, w.counts.Writes, w.counts.FailedWrites, w.largest}
			if got != values(want) {
				t.Errorf("%s with %d clients: simulated %v, formulas %v", form, n, got, values(want))
			}
			checkIdentities(t, form, model, w.counts, n)
		}
	}
}

func TestPriorityIdentitiesHoldUnderAnySchedule(t *testing.T) {
	const clients, turns = 7, 5
	for _, form := range priorityLocks {
		for seed := range uint64(200) {
			rng := rand.New(rand.NewPCG(seed, 0))
			w, all := petitioners(form, clients)
			for left := clients * turns; left > 0; {
				switch c := all[rng.IntN(len(all))]; {
				case c.holds && (rng.IntN(3) == 0 || !slices.Contains(w.nodes, c.mine)):
					c.leave()
					left--
				case c.holds && !c.heeds:
					c.heeds = true
					c.heed()
				case !c.holds && c.mine == 0 && c.turns < turns:
					c.priority, c.heeds = rng.Int64N(3), false
					c.mine = w.createNext()
				case !c.holds && c.mine != 0 && c.waiting == nil:
					c.look()
				}
			}
			checkIdentities(t, form, modelOf(t, form), w.counts, clients*turns)
		}
	}
}

func TestPriorityIdentitiesFail(t *testing.T) {
	const clients, many = 4, 1000
	more := append(slices.Clone(oneMore),
		func(c *metrics.Counts) { c.WatchedGets += many },
		func(c *metrics.Counts) { c.Notifications += many },
		func(c *metrics.Counts) { c.WatchedExists += many },
		func(c *metrics.Counts) { c.Lists += many },
		func(c *metrics.Counts) { c.Writes -= many })
	for _, form := range priorityLocks {
		wantFailing(t, form, settledPriorities(form, clients).counts, clients, clients, more)
	}
}

func TestGoldenPriorities(t *testing.T) {
	for form, want := range map[string][5]int64{
		"priority-lock/nearest":        {14, 56, 31, 0, 2},
		"priority-lock/laser-beams":    {0, 37, 38, 7, 0},
		"priority-lock/children-watch": {58, 115, 31, 0, 8},
	} {
		if got := values(modelOf(t, form).Settled(Params{Clients: 8})); got != want {
			t.Errorf("%s: got %v, want %v", form, got, want)
		}
	}
}
