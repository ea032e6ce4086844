package costmodel

import "github.com/stampede-bench/stampede/metrics"

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
