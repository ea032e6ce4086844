package cost

import "github.com/stampede-bench/stampede/metrics"

// commitCoordinator is N sites that join, a coordinator that begins then, and N
// votes to commit: each site reads the decision before and after it is made, and
// the coordinator each vote.
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

// commitEphemeralSites: the same, and each site makes its node when it joins.
func commitEphemeralSites(p Params) Expected {
	e := commitCoordinator(p)
	e.Writes = Term{"2N+1", 2*p.Clients + 1}
	return e
}

// commitAllWatchAll: each site reads each vote, its own too, before and after it
// is given.
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

// commitIdentities: whatever was not awaited any more, because somebody had
// aborted, fires at the latest when the transaction's nodes are removed after the
// round.
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
		equal("failed = 0", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.FailedWrites, 0
		}),
	}
}
