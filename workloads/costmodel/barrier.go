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
