package cost

import "github.com/stampede-bench/stampede/metrics"

// The settled run of a revocable lock has writers only: who waits for whom is the
// shared lock's affair. All but the first holder are asked to give the lock up,
// by the client that held it before and has left the line.

// revocableLockOwnNode: the shared lock, and each client reads its own node once
// and is told when it deletes it itself. A request wakes the holder, which reads
// again, and the writer behind it, which lists and watches again; behind the last
// there is nobody.
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

// revocableLockLaserBeams: as own-node, but the request is followed by a delete
// before the holder looks: that wakes the writer behind it, while the holder was
// told once and finds no node, neither to read nor to delete.
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

// revocableLockSharedFlag: a request wakes everybody who has not yet been woken
// after leaving: all who are in line, who read again, and the one that asks.
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

// Every watch on a node in the line fires, one's own too. Each round has a watch on
// one's own that stands; of those after a request some may arm nothing, because
// the hold ended while the client looked.
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

// Of the watches on the flag some never fire: a client keeps one for good.
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
