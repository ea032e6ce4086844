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

// The clients join one at a time and then leave one at a time, in the same order. A
// client that leaves has stopped following, but its last one-shot watch is still armed,
// and its own leaving fires it.

// groupRing returns the cost of group/ring: a client that joins lists and watches the
// member ahead. The first member watches the whole group, so it lists again. Here it is
// always the first member that leaves. This fires its own watch and its successor's. The
// successor lists, finds itself first, and lists with a watch. A member that fails in
// the middle would wake its neighbor, which reads twice, and the first, which reads once.
func groupRing(p Params) Expected {
	n := p.Clients
	return Expected{
		Notifications: Term{"3N−2", 3*n - 2},
		Reads:         Term{"5N−3", 5*n - 3},
		Writes:        Term{"2N", 2 * n},
		FailedWrites:  Term{"0", 0},
		LargestFanout: Term{"min(2, N)", min(2, n)},
	}
}

func groupRingIdentities() []Identity {
	return []Identity{
		equal("reads = lists + K", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.Reads, c.Lists + c.WatchedExists
		}),
		atMost("notifications ≤ reads", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.Notifications, c.Reads
		}),
		oneWriteEach(),
	}
}

// groupChildrenWatch returns the cost of group/children-watch: a client that joins wakes
// all members, and a client that leaves wakes all members and itself.
func groupChildrenWatch(p Params) Expected {
	n := p.Clients
	return Expected{
		Notifications: Term{"N²", n * n},
		Reads:         Term{"N²", n * n},
		Writes:        Term{"2N", 2 * n},
		FailedWrites:  Term{"0", 0},
		LargestFanout: Term{"N", n},
	}
}

func groupChildrenWatchIdentities() []Identity {
	return []Identity{
		readsAreLists(),
		atMost("notifications ≤ lists", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.Notifications, c.Lists
		}),
		oneWriteEach(),
	}
}

// groupRecursive returns the cost of group/recursive: a client that joins lists once. It
// is notified of all clients that join and leave after it, until it stops following.
func groupRecursive(p Params) Expected {
	n := p.Clients
	return Expected{
		Notifications: Term{"N(N−1)", n * (n - 1)},
		Reads:         Term{"N", n},
		Writes:        Term{"2N", 2 * n},
		FailedWrites:  Term{"0", 0},
		LargestFanout: Term{"N−1", n - 1},
	}
}

func groupRecursiveIdentities() []Identity {
	return []Identity{readsAreLists(), oneWriteEach()}
}
