package cost

import "github.com/stampede-bench/stampede/metrics"

// The clients join one at a time and leave one at a time, in the same order. Who
// leaves has stopped following, but a watch of its own that fires once is still
// armed then, and its own going fires it.

// groupRing: who joins lists and watches the one ahead, and the first, who is
// watching the whole group, lists again. Here it is always the first who goes: its
// own watch fires and its successor's, who lists, finds itself first, and lists
// with a watch. One that fails in the middle would wake its neighbour, for two
// reads, and the first, for one.
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

// groupChildrenWatch: whoever joins wakes all members, and whoever leaves does and
// itself as well.
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

// groupRecursive: whoever joins lists once, and is told of all that come and go
// after it until it stops following.
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
