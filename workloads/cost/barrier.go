package cost

import "github.com/stampede-bench/stampede/metrics"

// barrierWatch: everybody looks when it comes and again when it is woken, and
// the opening is one delete.
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

// barrierPoll: one look at the arrival and q more, the last after the opening.
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
		equal("notifications = 0", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.Notifications, 0
		}),
		equal("K = 0", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.WatchedExists, 0
		}),
		oneWrite(),
	}
}

// oneWrite: a round is one opening.
func oneWrite() Identity {
	return equal("writes = N", func(c metrics.Counts, rounds int64) (int64, int64) {
		return c.Writes, rounds
	})
}
