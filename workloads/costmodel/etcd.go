package costmodel

import "github.com/stampede-bench/stampede/metrics"

// The forms in this file ship with etcd's client. In its packages, a watch event says
// what has happened, and no read arms a watch: reads do not include the watches.

// lockConcurrency returns the cost of lock/concurrency: etcd's Mutex learns from its
// create whether it is first. If it is not, it looks for the last key before its own,
// waits for that key's deletion, looks again, and checks that its own key still exists.
func lockConcurrency(p Params) Expected {
	e := lockPredecessor(p)
	e.Reads = Term{"3(N−1)", 3 * (p.Clients - 1)}
	return e
}

func lockConcurrencyIdentities() []Identity { return []Identity{turnWrites()} }

// electionConcurrency returns the cost of election/concurrency: a client that campaigns
// looks for the last key before its own, waits for that key's deletion, and looks again.
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

// sharedLockEtcdRecipes returns the cost of shared-lock/etcd-recipes: that of nearest,
// where each look is one read. There are more reads where etcd has compacted the
// revision from which a watch should start.
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

// barrierEtcdRecipes returns the cost of barrier/etcd-recipes: each client reads when it
// arrives, and is notified of the opening.
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

// doubleBarrierEtcdRecipes returns the cost of double-barrier/etcd-recipes for N clients
// that enter and then leave, the last one first. To enter, each client lists before and
// after it creates its key. The last one creates ready, for which the others wait. To
// leave, each client lists. All but the lowest delete their keys, wait for the deletion
// of the lowest key, and list again. The lowest client also deletes ready.
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
		noFailedWrites("failed = 0"),
	}
}

// queueEtcdRecipes returns the cost of queue/etcd-recipes: a consumer reads the first
// item and deletes it. When an item arrives while k consumers wait, all k are notified
// and try to delete it. All but one fail and read again.
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

// priorityQueueEtcdRecipes returns the cost of priority-queue/etcd-recipes: that of the
// queue, plus one read per put, of the last number.
func priorityQueueEtcdRecipes(p Params) Expected {
	n, m := p.Clients, p.Items
	e := queueEtcdRecipes(p)
	e.Reads = Term{"M+(N−1)(N+2)/2", m + (n-1)*(n+2)/2}
	return e
}

// queueEtcdRecipesIdentities hold for whole rounds; a round is an item put and taken.
// A put into the priority queue fails where another producer was faster.
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
