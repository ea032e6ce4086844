package costmodel

import "github.com/stampede-bench/stampede/metrics"

// The settled run of a revocable lock has writers only; the shared lock's model covers
// readers. Every holder but the first is asked to release the lock, by the client that
// held it before and has left the line.

// revocableLockOwnNode returns the cost of revocable-lock/own-node: that of the shared
// lock, plus one read of each client's own node, whose watch fires when the client deletes
// the node. A request wakes the holder, which reads again, and the writer behind it, which
// lists and watches again. The last holder has no writer behind it.
func revocableLockOwnNode(p Params) Expected {
	n := p.Clients
	return Expected{
		Notifications: Term{"max(1, 4N−4)", max(1, 4*n-4)},
		Reads:         Term{"max(2, 8N−8)", max(2, 8*n-8)},
		Writes:        Term{"3N−1", 3*n - 1},
		FailedWrites:  Term{"0", 0},
		LargestFanout: Term{"min(2, N)", min(2, n)},
	}
}

// revocableLockLaserBeams returns the cost of revocable-lock/laser-beams: like own-node, but
// the requesting client deletes the holder's node before the holder reads its request. The
// delete wakes the writer behind the holder. The holder is notified once, by the request,
// and then finds no node to read or to delete.
func revocableLockLaserBeams(p Params) Expected {
	n := p.Clients
	return Expected{
		Notifications: Term{"max(1, 3N−3)", max(1, 3*n-3)},
		Reads:         Term{"max(2, 8N−8)", max(2, 8*n-8)},
		Writes:        Term{"4N−2", 4*n - 2},
		FailedWrites:  Term{"N−1", n - 1},
		LargestFanout: Term{"min(2, N)", min(2, n)},
	}
}

// revocableLockSharedFlag returns the cost of revocable-lock/shared-flag: a request wakes
// every client whose watch on the flag is armed. These are all clients in line, which read
// again, and the requesting client, whose watch is left from its own turn.
func revocableLockSharedFlag(p Params) Expected {
	n := p.Clients
	largest := Term{"N", n}
	if n == 1 {
		largest = Term{"0", 0}
	}
	return Expected{
		Notifications: Term{"N(N+3)/2−2", n*(n+3)/2 - 2},
		Reads:         Term{"4N−2+N(N−1)/2", 4*n - 2 + n*(n-1)/2},
		Writes:        Term{"3N−1", 3*n - 1},
		FailedWrites:  Term{"0", 0},
		LargestFanout: largest,
	}
}

// revocableLockOwnNodeIdentities use that every watch on a node in the line fires, including a
// client's watch on its own node. In each round, the client's first read of its own node arms a
// watch. A read after a request may arm none, because the hold ended in the meantime.
func revocableLockOwnNodeIdentities() []Identity {
	return []Identity{
		atMost("K − z + N ≤ notifications", func(c metrics.Counts, n int64) (int64, int64) {
			return c.WatchedExists - c.WatchedMisses + n, c.Notifications
		}),
		atMost("notifications ≤ K − z + gets − missed gets", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.Notifications, c.WatchedExists - c.WatchedMisses + c.WatchedGets - c.MissedGets
		}),
		atMost("N + K ≤ lists", func(c metrics.Counts, n int64) (int64, int64) {
			return n + c.WatchedExists, c.Lists
		}),
		revocableReads(),
		revocableWrites(),
	}
}

// revocableLockSharedFlagIdentities allow for watches on the flag that never fire: each client
// keeps one armed for good.
func revocableLockSharedFlagIdentities() []Identity {
	return []Identity{
		atMost("K − z ≤ notifications", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.WatchedExists - c.WatchedMisses, c.Notifications
		}),
		atMost("notifications ≤ K − z + gets", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.Notifications, c.WatchedExists - c.WatchedMisses + c.WatchedGets
		}),
		equal("lists = N + K", func(c metrics.Counts, n int64) (int64, int64) {
			return c.Lists, n + c.WatchedExists
		}),
		revocableReads(),
		revocableWrites(),
	}
}

func revocableReads() Identity {
	return equal("reads = lists + K + gets", func(c metrics.Counts, _ int64) (int64, int64) {
		return c.Reads, c.Lists + c.WatchedExists + c.WatchedGets
	})
}

func revocableWrites() Identity {
	return atMost("2N ≤ writes", func(c metrics.Counts, n int64) (int64, int64) {
		return 2 * n, c.Writes
	})
}

// An election without acknowledgement works like a lock, so election/predecessor,
// election/children-watch and election/one-node cost the same as the lock's forms of
// these names.

// electionAcknowledged returns the cost of election/acknowledged: that of the lock, plus
// one node that the leader creates and deletes, and that no client watches.
func electionAcknowledged(p Params) Expected {
	e := lockPredecessor(p)
	e.Writes = Term{"4N", 4 * p.Clients}
	return e
}

func electionAcknowledgedIdentities() []Identity {
	return append(waitingInLine(), onlyTheNext(),
		equal("writes = 4N + failed", func(c metrics.Counts, n int64) (int64, int64) {
			return c.Writes, 4*n + c.FailedWrites
		}))
}

// electionWatchLeader returns the cost of election/watch-leader: each client but the
// first watches the leader when it arrives. When a leader leaves, all remaining clients
// are woken and list, and all but the new leader watch the new leader.
func electionWatchLeader(p Params) Expected {
	n := p.Clients
	return Expected{
		Notifications: Term{"N(N−1)/2", n * (n - 1) / 2},
		Reads:         Term{"N²", n * n},
		Writes:        Term{"2N", 2 * n},
		FailedWrites:  Term{"0", 0},
		LargestFanout: Term{"N−1", n - 1},
	}
}

func electionWatchLeaderIdentities() []Identity { return oneAheadIdentities() }

// electionPoll returns the cost of election/poll: that of lock/poll, except that the
// candidates that find no leader at the same time race. All but one of them fail to
// create the node.
func electionPoll(p Params) Expected {
	least := lockPoll(p)
	most := least
	n := p.Clients
	most.Writes = Term{"2N+(N−1)(N−2)/2", 2*n + (n-1)*(n-2)/2}
	most.FailedWrites = Term{"(N−1)(N−2)/2", (n - 1) * (n - 2) / 2}
	least.Most = &most
	return least
}

func electionPollIdentities() []Identity {
	return []Identity{
		noNotifications(),
		equal("K = 0", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.WatchedExists, 0
		}),
		turnWrites(),
	}
}
