package costmodel

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/metrics"
)

// This file simulates members that set their states in one node at the same time.

// A writer is one member's update: it reads the version, and sets it if it is still the same.
type writer struct {
	version int64
	read    bool
}

// updateTogether lets members make an update each, in an order drawn from rng.
func updateTogether(members int, rng *rand.Rand) (c metrics.Counts) {
	version, pending := int64(0), make([]*writer, members)
	for i := range pending {
		pending[i] = new(writer)
	}
	step := func(i int) {
		w := pending[i]
		if !w.read {
			c.Reads++
			w.read, w.version = true, version
			return
		}
		c.Writes++
		if w.read = false; w.version == version {
			version++
			pending = slices.Delete(pending, i, i+1)
			return
		}
		c.FailedWrites++
	}
	for len(pending) > 0 {
		step(rng.IntN(len(pending)))
	}
	return c
}

func TestUpdatesTogetherAreWithinTheBounds(t *testing.T) {
	for seed := range uint64(200) {
		n := 1 + int(seed%9)
		c := updateTogether(n, rand.New(rand.NewPCG(seed, 0)))
		for _, i := range modelOf(t, "member-state/one-node").Identities {
			if left, right, holds := i.Check(c, int64(n), int64(n)); !holds {
				t.Errorf("seed %d: %s does not hold: %d and %d", seed, i.Formula, left, right)
			}
		}
	}
}

// TestTheBoundsOfUpdatesTogether reaches both bounds, and breaks each identity.
func TestTheBoundsOfUpdatesTogether(t *testing.T) {
	const n = 8
	alone := metrics.Counts{Reads: n, Writes: n}
	most := metrics.Counts{Reads: n * (n + 1) / 2, Writes: n * (n + 1) / 2, FailedWrites: n * (n - 1) / 2}
	for _, form := range []string{"member-state/own-node", "member-state/one-node"} {
		for _, i := range modelOf(t, form).Identities {
			if _, _, holds := i.Check(alone, n, n); !holds {
				t.Errorf("%s: %s does not hold for updates one at a time", form, i.Formula)
			}
			_, _, holds := i.Check(most, n, n)
			if want := form == "member-state/one-node" || i.Formula == "notifications = 0" || i.Formula == "writes ≤ reads"; holds != want {
				t.Errorf("%s: %s holds for the most refusals: %v, want %v", form, i.Formula, holds, want)
			}
		}
		wantFailing(t, form, most, n, n, oneMore)
	}
}

// TestWatchEachEqualsSimulation has members join and leave, one at a time, that watch each other's node.
func TestWatchEachEqualsSimulation(t *testing.T) {
	for _, n := range []int64{1, 2, 3, 5, 8, 16} {
		var notifications, reads, largest int64
		group, node := map[int64]bool{}, map[[2]int64]bool{} // armed watches: of a member, and of a member on another
		list := func(i int64) { reads++; group[i] = true }
		exists := func(i, other int64) { reads++; node[[2]int64{i, other}] = true }
		for i := range n { // joins
			for other := range i {
				notifications++
				list(other)
				exists(other, i)
			}
			list(i)
			for other := range i {
				exists(i, other)
			}
		}
		if armed := int64(len(group) + len(node)); armed != n*n {
			t.Errorf("%d standing watches of %d members, want N²", armed, n)
		}
		for i := range n { // leaves
			woken := map[int64]bool{}
			for w := range node {
				if w[1] == i {
					notifications++
					woken[w[0]] = true
					delete(node, w)
				}
			}
			for other := range group {
				notifications++
				woken[other] = true
				delete(group, other)
			}
			largest = max(largest, int64(len(woken)))
			for other := i + 1; other < n; other++ {
				list(other)
			}
		}
		got, want := [...]int64{notifications, reads, 2 * n, 0, largest}, modelOf(t, "mutual-watch/watch-each").Settled(Params{Clients: n})
		if got != values(want) {
			t.Errorf("with %d: simulated %v, formulas %v", n, got, values(want))
		}
		checkIdentities(t, "mutual-watch/watch-each", modelOf(t, "mutual-watch/watch-each"),
			metrics.Counts{Notifications: notifications, Reads: reads, Writes: 2 * n, Lists: reads - n*(n-1), WatchedExists: n * (n - 1)}, 2*n)
	}
}
