package cost

import "github.com/stampede-bench/stampede/metrics"

// An election without acknowledgement is a lock by another name, so
// election/predecessor and election/children-watch cost what the lock's forms
// of these names do.

// electionAcknowledged: as the lock, and the leader makes and removes one node
// more, which nobody watches.
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

// electionWatchLeader: each but the first watches the leader when it comes; a
// leader that goes wakes all that are left, who list, and all but the new
// leader watch that one.
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
