package cost

import "github.com/stampede-bench/stampede/metrics"

// An election without acknowledgement works like a lock, so election/predecessor and
// election/children-watch cost the same as the lock's forms of these names.

// electionAcknowledged returns the cost of election/acknowledged: that of the lock, plus
// one node that the leader creates and deletes, and that no client watches.
func electionAcknowledged(p Params) Expected {
	e := lockPredecessor(p)
	e.Writes = Term{"4N", 4 * p.Clients}
	return e
}

func electionAcknowledgedIdentities() []Identity {
	return append(inLine(), onlyTheNext(),
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
