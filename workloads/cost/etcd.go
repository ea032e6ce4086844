package cost

import "github.com/stampede-bench/stampede/metrics"

// What etcd's client ships. A watch of its packages says what has happened, and
// nobody arms one by a read: reads are counted without them.

// lockConcurrency: etcd's Mutex learns in its create who is first. Who is not
// looks for the last key before its own, waits for that to go, looks again and
// makes sure that its own is still there.
func lockConcurrency(p Params) Expected {
	e := lockPredecessor(p)
	e.Reads = Term{"3(N−1)", 3 * (p.Clients - 1)}
	return e
}

func lockConcurrencyIdentities() []Identity { return []Identity{turnWrites()} }

// electionConcurrency: who campaigns looks for the last key before its own, waits
// for that to go and looks again.
func electionConcurrency(p Params) Expected {
	e := lockPredecessor(p)
	e.Reads = Term{"2N−1", 2*p.Clients - 1}
	return e
}

func electionConcurrencyIdentities() []Identity {
	return []Identity{
		equal("reads = N + notifications", func(c metrics.Counts, n int64) (int64, int64) {
			return c.Reads, n + c.Notifications
		}),
		turnWrites(),
	}
}

// sharedLockEtcdRecipes: as nearest, where each look is one read. There are more
// of them where etcd has forgotten the revision that a watch is to begin with.
func sharedLockEtcdRecipes(p Params) Expected {
	e := sharedLockNearest(p)
	e.Reads = Term{"2N−1", 2*p.Clients - 1}
	return e
}

func sharedLockEtcdRecipesIdentities() []Identity {
	return []Identity{
		atMost("N + notifications ≤ reads", func(c metrics.Counts, n int64) (int64, int64) {
			return n + c.Notifications, c.Reads
		}),
		turnWrites(),
	}
}

// barrierEtcdRecipes: everybody looks when it comes, and is told of the opening.
func barrierEtcdRecipes(p Params) Expected {
	e := barrierWatch(p)
	e.Reads = Term{"N", p.Clients}
	return e
}

func barrierEtcdRecipesIdentities() []Identity {
	return []Identity{
		atMost("notifications ≤ reads", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.Notifications, c.Reads
		}),
		oneWrite(),
	}
}

// doubleBarrierEtcdRecipes is N clients that enter, and leave, the last one first.
// To enter, everybody lists before and after it makes its key, and the last one
// makes ready, for which the others wait. To leave, everybody lists, and all but
// the lowest remove their keys and wait for that of the lowest to go, and list
// again. The lowest removes ready too.
func doubleBarrierEtcdRecipes(p Params) Expected {
	n := p.Clients
	return Expected{
		Notifications: Term{"2(N−1)", 2 * (n - 1)},
		Reads:         Term{"4N−1", 4*n - 1},
		Writes:        Term{"2(N+1)", 2 * (n + 1)},
		FailedWrites:  Term{"0", 0},
		LargestFanout: Term{"N−1", n - 1},
	}
}

func doubleBarrierEtcdRecipesIdentities() []Identity {
	return []Identity{
		readsAreLists(),
		atMost("notifications ≤ lists", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.Notifications, c.Lists
		}),
		equal("failed = 0", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.FailedWrites, 0
		}),
	}
}

// queueEtcdRecipes: who takes reads the first item and deletes it. When the item
// comes for which k wait, all k are told of it and try to delete it, and all but
// one fail and read again.
func queueEtcdRecipes(p Params) Expected {
	n, m := p.Clients, p.Items
	return Expected{
		Notifications: Term{"N(N−1)/2", n * (n - 1) / 2},
		Reads:         Term{"M+N(N−1)/2", m + n*(n-1)/2},
		Writes:        Term{"M+(N−1)(N+2)/2", m + (n-1)*(n+2)/2},
		FailedWrites:  Term{"(N−1)(N−2)/2", (n - 1) * (n - 2) / 2},
		LargestFanout: Term{"N−1", n - 1},
	}
}

// priorityQueueEtcdRecipes: the same, and who puts reads the last number first.
func priorityQueueEtcdRecipes(p Params) Expected {
	n, m := p.Clients, p.Items
	e := queueEtcdRecipes(p)
	e.Reads = Term{"M+(N−1)(N+2)/2", m + (n-1)*(n+2)/2}
	return e
}

// queueEtcdRecipesIdentities hold for whole rounds: an item put and taken. A put
// of a priority fails where somebody was faster.
func queueEtcdRecipesIdentities() []Identity {
	return []Identity{
		turnWrites(),
		atMost("notifications ≤ N + failed", func(c metrics.Counts, n int64) (int64, int64) {
			return c.Notifications, n + c.FailedWrites
		}),
		atMost("N + failed ≤ reads + notifications", func(c metrics.Counts, n int64) (int64, int64) {
			return n + c.FailedWrites, c.Reads + c.Notifications
		}),
	}
}
