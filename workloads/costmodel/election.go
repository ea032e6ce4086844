package costmodel

import "github.com/stampede-bench/stampede/metrics"

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
