package costmodel

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/metrics"
)

// flagNode is the node from which all clients of shared-flag read requests.
const flagNode = -1

// tenant is an simClient that can be asked to release its lock. It takes one operation at a
// time.
type tenant struct {
	simClient
	shared  bool   // reads requests from flagNode, not from its own node
	request *watch // fires at a request
}

func (t *tenant) flag() int {
	if t.shared {
		return flagNode
	}
	return t.mine
}

// Stages of a tenant's turn.
const (
	toCreate = iota
	toHeed
	toList
	toWatch
	toSleep
	toRelease
)

func (t *tenant) runnable() bool {
	switch t.step {
	case toSleep:
		return t.waiting == nil || t.request.fired
	case toRelease:
		return false
	}
	return true
}

// move runs the tenant's next operation on the way to the lock.
func (t *tenant) move() {
	switch t.step {
	case toCreate:
		t.mine, t.step = t.world.createNext(), toHeed
	case toHeed:
		t.step = toList
		if t.shared && t.request != nil && !t.request.fired {
			t.move() // the watch of an earlier turn is still armed
			return
		}
		t.heed()
	case toList:
		line := t.world.list()
		i := slices.Index(line, t.mine)
		if i == 0 {
			t.holds, t.step = true, toRelease
			return
		}
		t.ahead, t.step = line[i-1], toWatch
	case toWatch:
		await(&t.simClient, t.ahead)
		t.step = toSleep
	case toSleep:
		if t.waiting != nil {
			t.heed()
			return
		}
		t.step = toList
		t.move()
	}
}

// heed reads requests, with a watch.
func (t *tenant) heed() {
	w := t.world
	w.counts.Reads++
	w.counts.WatchedGets++
	if !t.shared && !slices.Contains(w.nodes, t.mine) {
		w.counts.MissedGets++
		return
	}
	t.request = w.watchNode(&t.simClient, t.flag())
}

// revoke asks the holder to release the lock.
func (t *tenant) revoke() {
	asked := flagNode
	if !t.shared {
		line := t.world.list()
		if len(line) == 0 {
			return
		}
		asked = line[0]
	}
	t.world.counts.Writes++
	t.world.fire(asked)
}

// leave deletes the tenant's node; the delete fails if the node is already deleted.
func (t *tenant) leave() {
	if slices.Contains(t.world.nodes, t.mine) {
		t.world.remove(t.mine)
	} else {
		t.world.counts.Writes++
		t.world.counts.FailedWrites++
	}
	t.holds, t.step = false, toCreate
	t.turns++
}

func tenants(form string, n int64) (*world, []*tenant) {
	w := &world{readers: map[int]bool{}, watches: map[int][]*watch{}}
	all := make([]*tenant, n)
	for i := range all {
		all[i] = &tenant{simClient: simClient{world: w}, shared: form == "revocable-lock/shared-flag"}
	}
	return w, all
}

func restTenants(all []*tenant) {
	for moved := true; moved; {
		moved = false
		for _, t := range all {
			for t.runnable() {
				t.move()
				moved = true
			}
		}
	}
}

// settledRevocations has all tenants arrive. Then they leave one at a time; if asks, each
// asks the next one to release.
func settledRevocations(form string, n int64, asks bool) *world {
	w, all := tenants(form, n)
	for i := range all {
		restTenants(all[:i+1])
	}
	for i, t := range all {
		if i > 0 && asks {
			all[i-1].revoke()
			restTenants(all[i:])
			if form == "revocable-lock/laser-beams" {
				w.remove(t.mine)
				restTenants(all[i+1:])
			}
			t.heed()
		}
		t.leave()
		restTenants(all[i+1:])
	}
	return w
}

var revocableLocks = []string{"revocable-lock/own-node", "revocable-lock/laser-beams", "revocable-lock/shared-flag"}

func TestRevocationsSettledEqualSimulation(t *testing.T) {
	for _, form := range revocableLocks {
		model := modelOf(t, form)
		for _, n := range []int64{1, 2, 3, 5, 8, 16} {
			want := model.Settled(Params{Clients: n})
			w := settledRevocations(form, n, true)
			got := [...]int64{w.counts.Notifications, w.counts.Reads, w.counts.Writes, w.counts.FailedWrites, w.largest}
			if got != values(want) {
				t.Errorf("%s with %d clients: simulated %v, formulas %v", form, n, got, values(want))
			}
			checkIdentities(t, form, model, w.counts, n)
		}
	}
}

// TestRevocableLocksWithoutRequests checks the cost without requests: a client of own-node reads
// its node once, and its watch fires when it deletes the node. A client of shared-flag reads the
// flag once and gets no notification.
func TestRevocableLocksWithoutRequests(t *testing.T) {
	for _, form := range revocableLocks {
		for _, n := range []int64{1, 2, 8} {
			w := settledRevocations(form, n, false)
			told := n
			if form == "revocable-lock/shared-flag" {
				told = 0
			}
			if c := w.counts; c.Notifications != n-1+told || c.Reads != 4*n-2 || c.Writes != 2*n {
				t.Errorf("%s with %d clients: %d notifications, %d reads, %d writes; want %d, %d, %d",
					form, n, c.Notifications, c.Reads, c.Writes, n-1+told, 4*n-2, 2*n)
			}
			checkIdentities(t, form, modelOf(t, form), w.counts, n)
		}
	}
}

func TestRevocationIdentitiesHoldUnderAnySchedule(t *testing.T) {
	const clients, turns = 7, 5
	for _, form := range revocableLocks {
		for seed := range uint64(200) {
			rng := rand.New(rand.NewPCG(seed, 0))
			w, all := tenants(form, clients)
			for len(all) > 0 {
				i := rng.IntN(len(all))
				t := all[i]
				switch dice := rng.IntN(4); {
				case t.turns == turns:
					all = slices.Delete(all, i, i+1)
				case t.holds && t.request.fired && dice == 0:
					t.heed()
				case t.holds && dice == 1 && form == "revocable-lock/laser-beams" && slices.Contains(w.nodes, t.mine):
					w.remove(t.mine)
				case t.holds:
					t.leave()
				case t.step == toCreate && dice == 0:
					t.revoke()
				case t.runnable():
					t.move()
				}
			}
			checkIdentities(t, form, modelOf(t, form), w.counts, clients*turns)
		}
	}
}

func TestRevocationIdentitiesFail(t *testing.T) {
	const clients, many = 4, 1000
	more := append(slices.Clone(oneMore),
		func(c *metrics.Counts) { c.Notifications += many },
		func(c *metrics.Counts) { c.WatchedExists += many },
		func(c *metrics.Counts) { c.Writes -= many })
	for _, form := range revocableLocks {
		wantFailing(t, form, settledRevocations(form, clients, true).counts, clients, 0, more)
	}
}

func TestGoldenRevocations(t *testing.T) {
	for form, want := range map[string][5]int64{
		"revocable-lock/own-node":    {28, 56, 23, 0, 2},
		"revocable-lock/laser-beams": {21, 56, 30, 7, 2},
		"revocable-lock/shared-flag": {42, 58, 23, 0, 8},
	} {
		if got := values(modelOf(t, form).Settled(Params{Clients: 8})); got != want {
			t.Errorf("%s: got %v, want %v", form, got, want)
		}
	}
}
