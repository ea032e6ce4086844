package cost

import "github.com/stampede-bench/stampede/metrics"

// lockPredecessor: a client lists once when it comes, watches the one ahead and
// lists again when woken; the first does not wait. That go-zookeeper's Lock
// watches with get instead of exists changes none of the sums.
func lockPredecessor(p Params) Expected {
	n := p.Clients
	return Expected{
		Notifications: Term{"N−1", n - 1},
		Reads:         Term{"3N−2", 3*n - 2},
		Writes:        Term{"2N", 2 * n},
		FailedWrites:  Term{"0", 0},
		LargestFanout: Term{"min(1, N−1)", min(1, n-1)},
	}
}

func lockPredecessorIdentities() []Identity {
	return append(oneAheadIdentities(), onlyTheNext())
}

// oneAheadIdentities hold wherever a client in line watches one node ahead and
// lists again when it is woken, and makes one node.
func oneAheadIdentities() []Identity { return append(inLine(), turnWrites()) }

// inLine: who stands in line lists when it comes and after each wait for one
// node.
func inLine() []Identity {
	return []Identity{
		equal("lists = N + K", func(c metrics.Counts, n int64) (int64, int64) {
			return c.Lists, n + c.WatchedExists
		}),
		equal("notifications = K − z", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.Notifications, c.WatchedExists - c.WatchedMisses
		}),
		equal("reads = lists + K", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.Reads, c.Lists + c.WatchedExists
		}),
	}
}

// onlyTheNext: each waits once, and the first does not.
func onlyTheNext() Identity {
	return atMost("K ≤ N−1", func(c metrics.Counts, n int64) (int64, int64) {
		return c.WatchedExists, max(n-1, 0)
	})
}

// lockOneNode: everybody who comes second or later fails to create and watches;
// each release wakes all that are left, and all but one fail again.
func lockOneNode(p Params) Expected {
	n := p.Clients
	return Expected{
		Notifications: Term{"N(N−1)/2", n * (n - 1) / 2},
		Reads:         Term{"N(N−1)/2", n * (n - 1) / 2},
		Writes:        Term{"N(N+3)/2", n * (n + 3) / 2},
		FailedWrites:  Term{"N(N−1)/2", n * (n - 1) / 2},
		LargestFanout: Term{"N−1", n - 1},
	}
}

func lockOneNodeIdentities() []Identity {
	return []Identity{
		equal("failed creates = K", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.FailedWrites, c.WatchedExists
		}),
		// With exists a miss counts as well: its watch fires when the node
		// is made again, if need be by the client that armed it.
		equal("notifications = K", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.Notifications, c.WatchedExists
		}),
		equal("reads = K", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.Reads, c.WatchedExists
		}),
		turnWrites(),
	}
}

// lockChildrenWatch: an arrival wakes all who wait and a release all who are
// left, each to list once. The holder lists no more, but its last watch still
// fires: at the next arrival or at its own release.
func lockChildrenWatch(p Params) Expected {
	n := p.Clients
	return Expected{
		Notifications: Term{"N²−N+1", n*n - n + 1},
		Reads:         Term{"N²−N+1", n*n - n + 1},
		Writes:        Term{"2N", 2 * n},
		FailedWrites:  Term{"0", 0},
		LargestFanout: Term{"max(1, N−1)", max(1, n-1)},
	}
}

func lockChildrenWatchIdentities() []Identity {
	return []Identity{
		equal("notifications = lists", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.Notifications, c.Lists
		}),
		readsAreLists(),
		turnWrites(),
	}
}

// lockPoll: one list at the arrival, and q for each turn that is waited for.
func lockPoll(p Params) Expected {
	n, q := p.Clients, p.Polls
	return Expected{
		Notifications: Term{"0", 0},
		Reads:         Term{"N+q·N(N−1)/2", n + q*n*(n-1)/2},
		Writes:        Term{"2N", 2 * n},
		FailedWrites:  Term{"0", 0},
		LargestFanout: Term{"0", 0},
	}
}

func lockPollIdentities() []Identity {
	return []Identity{
		equal("notifications = 0", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.Notifications, 0
		}),
		readsAreLists(),
		turnWrites(),
	}
}

// The watches of go-zookeeper's Lock are gets; one that finds no node arms none
// and the Lock lists again.
func lockGoZookeeperIdentities() []Identity {
	return []Identity{
		equal("lists = N + gets", func(c metrics.Counts, n int64) (int64, int64) {
			return c.Lists, n + c.WatchedGets
		}),
		equal("notifications = gets − missed gets", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.Notifications, c.WatchedGets - c.MissedGets
		}),
		equal("reads = lists + gets", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.Reads, c.Lists + c.WatchedGets
		}),
		turnWrites(),
	}
}

// turnWrites: besides failed creates a turn is one create and one delete.
func turnWrites() Identity {
	return equal("writes = 2N + failed", func(c metrics.Counts, n int64) (int64, int64) {
		return c.Writes, 2*n + c.FailedWrites
	})
}

func readsAreLists() Identity {
	return equal("reads = lists", func(c metrics.Counts, _ int64) (int64, int64) {
		return c.Reads, c.Lists
	})
}

func equal(formula string, sides func(metrics.Counts, int64) (int64, int64)) Identity {
	return Identity{Formula: formula, sides: sides}
}

func atMost(formula string, sides func(metrics.Counts, int64) (int64, int64)) Identity {
	return Identity{Formula: formula, sides: sides, atMost: true}
}
