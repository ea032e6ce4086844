package cost

import "github.com/stampede-bench/stampede/metrics"

// configWatch: everybody reads once to begin with, and a change wakes all, who
// read again. They must all wake, so this is no herd. A watch that stays, which
// config/persistent has, is told as often and read after as often.
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

// The workload waits for each change to be seen by all, so nobody misses one.
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

// configPoll: everybody reads once to begin with, and q times for each change.
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
		equal("notifications = 0", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.Notifications, 0
		}),
		equal("watching gets = 0", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.WatchedGets, 0
		}),
		oneWriteEach(),
	}
}

// oneWriteEach: a round is one update, and it is one write.
func oneWriteEach() Identity {
	return equal("writes = U", func(c metrics.Counts, rounds int64) (int64, int64) {
		return c.Writes, rounds
	})
}
