package cost

import "github.com/stampede-bench/stampede/metrics"

// doubleBarrierReady is N clients that enter, and leave, the last one first. To
// enter, everybody watches for the node ready, which wakes all, the last one
// too, and lists once. To leave, everybody lists, and again when it is woken, and
// all but one watch one node each. In the form ready that is the lowest for all;
// in sequential, the next one down for each: the sums are the same, and ready's
// fan-out to enter is the larger one in both.
func doubleBarrierReady(p Params) Expected {
	n := p.Clients
	return Expected{
		Notifications: Term{"2N−1", 2*n - 1},
		Reads:         Term{"5N−2", 5*n - 2},
		Writes:        Term{"2N+1", 2*n + 1},
		FailedWrites:  Term{"0", 0},
		LargestFanout: Term{"N", n},
	}
}

func doubleBarrierReadyIdentities() []Identity {
	return []Identity{
		// A client that enters lists once, and watches for a node that is not
		// there yet; one that leaves lists once more than it watches.
		equal("notifications = lists − z", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.Notifications, c.Lists - c.WatchedMisses
		}),
		equal("reads = lists + K", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.Reads, c.Lists + c.WatchedExists
		}),
		// lists − K is the clients of all rounds: each has a node of its own,
		// and each round has ready. Who comes last with others fails to make it.
		equal("writes = N + 2(lists − K) + failed", func(c metrics.Counts, rounds int64) (int64, int64) {
			return c.Writes, rounds + 2*(c.Lists-c.WatchedExists) + c.FailedWrites
		}),
	}
}

// doubleBarrierChildrenWatch: whoever comes wakes all who have come, each to
// list again and to ask whether they were complete, and in the end all find that
// they are and say so. All are left with a watch, which the first to leave fires;
// from then on whoever leaves wakes all who have left before it.
func doubleBarrierChildrenWatch(p Params) Expected {
	n := p.Clients
	return Expected{
		Notifications: Term{"N²", n * n},
		Reads:         Term{"N(3N+1)/2", n * (3*n + 1) / 2},
		Writes:        Term{"3N", 3 * n},
		FailedWrites:  Term{"0", 0},
		LargestFanout: Term{"N", n},
	}
}

func doubleBarrierChildrenWatchIdentities() []Identity {
	return []Identity{
		// Every list leaves a watch, and when the double barrier is removed
		// after the round, the last ones fire.
		equal("notifications = lists", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.Notifications, c.Lists
		}),
		atMost("reads ≤ 2·lists", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.Reads, 2 * c.Lists
		}),
		equal("failed = 0", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.FailedWrites, 0
		}),
	}
}
