package costmodel

import "github.com/stampede-bench/stampede/metrics"

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
