package costmodel

import "github.com/stampede-bench/stampede/metrics"

// lockPredecessor returns the cost of lock/predecessor: a client lists once when it
// arrives, watches the client ahead, and lists again when it is woken. The first client
// does not wait. The Lock of go-zookeeper watches with get instead of exists; the sums
// are the same.
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

// oneAheadIdentities hold for every form in which a client in line creates one node,
// watches one node ahead, and lists again when it is woken.
func oneAheadIdentities() []Identity { return append(waitingInLine(), turnWrites()) }

// waitingInLine is for clients in line: each lists when it arrives and after each wait for one
// node.
func waitingInLine() []Identity {
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

// onlyTheNext is for forms in which each client but the first waits exactly once.
func onlyTheNext() Identity {
	return atMost("K ≤ N−1", func(c metrics.Counts, n int64) (int64, int64) {
		return c.WatchedExists, max(n-1, 0)
	})
}

// lockOneNode returns the cost of lock/one-node: each client that arrives second or later
// fails to create the node, and watches it. Each release wakes all waiting clients, and
// all but one fail again.
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
		// A watch set by exists on a missing node counts as well: it fires when the
		// node is created again, possibly by the client that set the watch.
		equal("notifications = K", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.Notifications, c.WatchedExists
		}),
		equal("reads = K", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.Reads, c.WatchedExists
		}),
		turnWrites(),
	}
}

// lockChildrenWatch returns the cost of lock/children-watch: an arrival wakes all waiting
// clients, and a release wakes all remaining clients; each lists once. The holder does
// not list again, but its last watch still fires: at the next arrival, or at its own
// release.
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

// lockPoll returns the cost of lock/poll: each client lists once when it arrives, and q
// times for each turn that it waits for.
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
		noNotifications(),
		readsAreLists(),
		turnWrites(),
	}
}

// lockGoZookeeperIdentities differ from the other locks' because the watches of go-zookeeper's Lock
// are gets. A get that finds no node sets no watch, and the Lock lists again.
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

// turnWrites is for forms in which a turn is one create and one delete, besides failed
// creates.
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

// fixed is for a count that is the same for each round under any schedule.
func fixed(formula, name string, perRound int64, count func(metrics.Counts) int64) Identity {
	i := equal(formula, func(c metrics.Counts, rounds int64) (int64, int64) { return count(c), perRound * rounds })
	i.Fixes = name
	return i
}

func noNotifications() Identity {
	return fixed("notifications = 0", "notifications", 0, func(c metrics.Counts) int64 { return c.Notifications })
}

func noFailedWrites(formula string) Identity {
	return fixed(formula, "failed_writes", 0, func(c metrics.Counts) int64 { return c.FailedWrites })
}

func writesPerRound(formula string, perRound int64) Identity {
	return fixed(formula, "writes", perRound, func(c metrics.Counts) int64 { return c.Writes })
}

// sharedLockNearest returns the cost of shared-lock/nearest: a writer watches the client
// right ahead, which is the last of those ahead to release, and a reader watches the
// nearest writer. So each client but the first is woken once. The last writer's release
// wakes all readers, and all of them get the lock.
func sharedLockNearest(p Params) Expected {
	n, w, r := p.sides()
	return Expected{
		Notifications: Term{"N−1", n - 1},
		Reads:         Term{"3N−2", 3*n - 2},
		Writes:        Term{"2N", 2 * n},
		FailedWrites:  Term{"0", 0},
		LargestFanout: Term{"max(R, min(1, W−1))", max(r, min(1, w-1))},
	}
}

// sharedLockChildrenWatch returns the cost of shared-lock/children-watch. Up to the last
// writer's release it is that of the lock: an arrival wakes all waiting clients, and a
// release wakes all remaining clients. Then the readers hold the lock, and the release of
// the first reader fires the watches of all readers.
func sharedLockChildrenWatch(p Params) Expected {
	n, w, _ := p.sides()
	all := 1 + n*(n-1)/2 + w*n - w*(w+1)/2
	return Expected{
		Notifications: Term{"1+N(N−1)/2+WN−W(W+1)/2", all},
		Reads:         Term{"1+N(N−1)/2+WN−W(W+1)/2", all},
		Writes:        Term{"2N", 2 * n},
		FailedWrites:  Term{"0", 0},
		LargestFanout: Term{"max(1, N−1)", max(1, n-1)},
	}
}

// sharedLockLowestWrite returns the cost of shared-lock/lowest-write: every writer's release
// wakes the next writer and all readers, and the readers wait again, except after the last
// writer.
func sharedLockLowestWrite(p Params) Expected {
	n, w, r := p.sides()
	woken := r*w + w - 1
	return Expected{
		Notifications: Term{"RW+W−1", woken},
		Reads:         Term{"N+2(RW+W−1)", n + 2*woken},
		Writes:        Term{"2N", 2 * n},
		FailedWrites:  Term{"0", 0},
		LargestFanout: Term{"R+min(1, W−1)", r + min(1, w-1)},
	}
}

// sides returns the numbers of all clients, of writers and of readers.
func (p Params) sides() (n, w, r int64) { return p.Clients, p.Writers, p.Clients - p.Writers }
