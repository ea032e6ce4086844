package costmodel

import "github.com/stampede-bench/stampede/metrics"

// configWatch returns the cost of config/watch: each client reads once at the start. A
// change wakes all clients, and each reads again. All of them need the new value, so
// this is no herd. The persistent watches of config/persistent cause as many
// notifications and as many reads.
func configWatch(p Params) Expected {
	n, u := p.Clients, p.Updates
	return Expected{
		Notifications: Term{"N·U", n * u},
		Reads:         Term{"N(1+U)", n * (1 + u)},
		Writes:        Term{"U", u},
		FailedWrites:  Term{"0", 0},
		LargestFanout: Term{"N", n},
	}
}

// configWatchIdentities use that the workload waits until all clients have seen a change, so no
// client misses one.
func configWatchIdentities() []Identity {
	return []Identity{
		equal("reads = watching gets", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.Reads, c.WatchedGets
		}),
		atMost("notifications ≤ reads", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.Notifications, c.Reads
		}),
		oneWriteEach(),
	}
}

func configPersistentIdentities() []Identity {
	return []Identity{
		equal("watching gets = 0", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.WatchedGets, 0
		}),
		oneWriteEach(),
	}
}

// configPoll returns the cost of config/poll: each client reads once at the start, and
// q times for each change.
func configPoll(p Params) Expected {
	n, u, q := p.Clients, p.Updates, p.Polls
	return Expected{
		Notifications: Term{"0", 0},
		Reads:         Term{"N(1+q·U)", n * (1 + q*u)},
		Writes:        Term{"U", u},
		FailedWrites:  Term{"0", 0},
		LargestFanout: Term{"0", 0},
	}
}

func configPollIdentities() []Identity {
	return []Identity{
		noNotifications(),
		equal("watching gets = 0", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.WatchedGets, 0
		}),
		oneWriteEach(),
	}
}

// oneWriteEach is for recipes where a round is one update, which is one write.
func oneWriteEach() Identity {
	return writesPerRound("writes = U", 1)
}
