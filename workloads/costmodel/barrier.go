package costmodel

import "github.com/stampede-bench/stampede/metrics"

// barrierWatch returns the cost of barrier/watch: each client reads when it arrives
// and again when it is woken, and the opening is one delete.
func barrierWatch(p Params) Expected {
	n := p.Clients
	return Expected{
		Notifications: Term{"N", n},
		Reads:         Term{"2N", 2 * n},
		Writes:        Term{"1", 1},
		FailedWrites:  Term{"0", 0},
		LargestFanout: Term{"N", n},
	}
}

func barrierWatchIdentities() []Identity {
	return []Identity{
		equal("notifications = K − z", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.Notifications, c.WatchedExists - c.WatchedMisses
		}),
		equal("reads = K", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.Reads, c.WatchedExists
		}),
		oneWrite(),
	}
}

// barrierPoll returns the cost of barrier/poll: each client reads when it arrives and q
// more times, the last time after the opening.
func barrierPoll(p Params) Expected {
	n, q := p.Clients, p.Polls
	return Expected{
		Notifications: Term{"0", 0},
		Reads:         Term{"N+qN", n + q*n},
		Writes:        Term{"1", 1},
		FailedWrites:  Term{"0", 0},
		LargestFanout: Term{"0", 0},
	}
}

func barrierPollIdentities() []Identity {
	return []Identity{
		noNotifications(),
		equal("K = 0", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.WatchedExists, 0
		}),
		oneWrite(),
	}
}

// oneWrite is for recipes where a round is one opening, which is one write.
func oneWrite() Identity {
	return writesPerRound("writes = N", 1)
}

// doubleBarrierReady returns the cost of double-barrier/ready and
// double-barrier/sequential for N clients that enter and then leave, the last one
// first. To enter, each client watches for the node ready and lists once; ready wakes
// all clients, the last one too. To leave, each client lists, and lists again when it
// is woken, and all but one watch one node each. In the form ready all watch the lowest
// node; in sequential each watches the next lower node. The sums are the same, and in
// both forms the largest fan-out is that of ready.
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
		// A client that enters lists once and watches for a node that does not
		// exist yet. A client that leaves lists once more than it watches.
		equal("notifications = lists − z", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.Notifications, c.Lists - c.WatchedMisses
		}),
		equal("reads = lists + K", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.Reads, c.Lists + c.WatchedExists
		}),
		// lists − K is the number of clients in all rounds. Each client creates and
		// deletes a node of its own, and each round creates ready once. Of several
		// clients that find the barrier complete at the same time, all but one fail
		// to create ready.
		equal("writes = N + 2(lists − K) + failed", func(c metrics.Counts, rounds int64) (int64, int64) {
			return c.Writes, rounds + 2*(c.Lists-c.WatchedExists) + c.FailedWrites
		}),
	}
}

// doubleBarrierChildrenWatch returns the cost of double-barrier/children-watch: each
// arrival wakes all clients that have arrived. Each of them lists again, and reads
// whether the barrier was complete. In the end all clients find it complete, and each
// writes that. Each is left with a watch, which fires when the first client leaves.
// From then on, each client that leaves wakes all that left before it.
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
		// Every list arms a watch. The last watches fire when the double barrier is
		// removed after the round.
		equal("notifications = lists", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.Notifications, c.Lists
		}),
		atMost("reads ≤ 2·lists", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.Reads, 2 * c.Lists
		}),
		noFailedWrites("failed = 0"),
	}
}

// commitCoordinator returns the cost of two-phase-commit/coordinator: N sites join, then a
// coordinator begins, and then N sites vote to commit. Each site reads the decision before
// and after it is made, and the coordinator reads each vote before and after it is cast.
func commitCoordinator(p Params) Expected {
	n := p.Clients
	return Expected{
		Notifications: Term{"2N", 2 * n},
		Reads:         Term{"4N", 4 * n},
		Writes:        Term{"N+1", n + 1},
		FailedWrites:  Term{"0", 0},
		LargestFanout: Term{"N", n},
	}
}

// commitEphemeralSites returns the cost of two-phase-commit/ephemeral-sites: the same, plus
// one node that each site creates when it joins.
func commitEphemeralSites(p Params) Expected {
	e := commitCoordinator(p)
	e.Writes = Term{"2N+1", 2*p.Clients + 1}
	return e
}

// commitAllWatchAll returns the cost of two-phase-commit/all-watch-all: each site reads each
// vote, including its own, before and after it is cast.
func commitAllWatchAll(p Params) Expected {
	n := p.Clients
	return Expected{
		Notifications: Term{"N²", n * n},
		Reads:         Term{"2N²", 2 * n * n},
		Writes:        Term{"N", n},
		FailedWrites:  Term{"0", 0},
		LargestFanout: Term{"N", n},
	}
}

// commitIdentities hold because every watch fires. A watch on which no client waits any
// more, because a site has aborted, fires at the latest when the transaction's nodes are
// removed after the round.
func commitIdentities() []Identity {
	return []Identity{
		equal("notifications = gets − missed gets + K", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.Notifications, c.WatchedGets - c.MissedGets + c.WatchedExists
		}),
		atMost("reads ≤ 2(gets + K)", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.Reads, 2 * (c.WatchedGets + c.WatchedExists)
		}),
		atMost("writes ≤ N + 2·gets", func(c metrics.Counts, rounds int64) (int64, int64) {
			return c.Writes, rounds + 2*c.WatchedGets
		}),
		noFailedWrites("failed = 0"),
	}
}
