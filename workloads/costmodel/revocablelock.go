package costmodel

// The settled run of a revocable lock has writers only; the shared lock's model covers
// readers. Every holder but the first is asked to release the lock, by the client that
// held it before and has left the line.

// revocableLockOwnNode returns the cost of revocable-lock/own-node: that of the shared
// lock, plus one read of each client's own node, whose watch fires when the client deletes
// the node. A request wakes the holder, which reads again, and the writer behind it, which
// lists and watches again. The last holder has no writer behind it.
func revocableLockOwnNode(p Params) Expected {
	return p.expected("max(1, 4N−4)", "max(2, 8N−8)", "3N−1", "0", "min(2, N)")
}

// revocableLockLaserBeams returns the cost of revocable-lock/laser-beams: like own-node, but
// the requesting client deletes the holder's node before the holder reads its request. The
// delete wakes the writer behind the holder. The holder is notified once, by the request,
// and then finds no node to read or to delete.
func revocableLockLaserBeams(p Params) Expected {
	return p.expected("max(1, 3N−3)", "max(2, 8N−8)", "4N−2", "N−1", "min(2, N)")
}

// revocableLockSharedFlag returns the cost of revocable-lock/shared-flag: a request wakes
// every client whose watch on the flag is armed. These are all clients in line, which read
// again, and the requesting client, whose watch is left from its own turn.
func revocableLockSharedFlag(p Params) Expected {
	largest := "N"
	if p.Clients == 1 {
		largest = "0"
	}
	return p.expected("N(N+3)/2−2", "4N−2+N(N−1)/2", "3N−1", "0", largest)
}

// revocableLockOwnNodeIdentities use that every watch on a node in the line fires, including a
// client's watch on its own node. In each round, the client's first read of its own node arms a
// watch. A read after a request may arm none, because the hold ended in the meantime.
func revocableLockOwnNodeIdentities() []Identity {
	return []Identity{
		{"K − z + N ≤ notifications"},
		{"notifications ≤ K − z + gets − missed gets"},
		{"N + K ≤ lists"},
		revocableReads(),
		revocableWrites(),
	}
}

// revocableLockSharedFlagIdentities allow for watches on the flag that never fire: each client
// keeps one armed for good.
func revocableLockSharedFlagIdentities() []Identity {
	return []Identity{
		{"K − z ≤ notifications"},
		{"notifications ≤ K − z + gets"},
		{"lists = N + K"},
		revocableReads(),
		revocableWrites(),
	}
}

func revocableReads() Identity { return Identity{"reads = lists + K + gets"} }

func revocableWrites() Identity { return Identity{"2N ≤ writes"} }

// An election without acknowledgement works like a lock, so election/predecessor,
// election/children-watch and election/one-node cost the same as the lock's forms of
// these names.

// electionAcknowledged returns the cost of election/acknowledged: that of the lock, plus
// one node that the leader creates and deletes, and that no client watches.
func electionAcknowledged(p Params) Expected {
	e := lockPredecessor(p)
	e.Writes = p.term("4N")
	return e
}

func electionAcknowledgedIdentities() []Identity {
	return append(waitingInLine(), onlyTheNext(),
		Identity{"writes = 4N + failed"})
}

// electionWatchLeader returns the cost of election/watch-leader: each client but the
// first watches the leader when it arrives. When a leader leaves, all remaining clients
// are woken and list, and all but the new leader watch the new leader.
func electionWatchLeader(p Params) Expected {
	return p.expected("N(N−1)/2", "N²", "2N", "0", "N−1")
}

func electionWatchLeaderIdentities() []Identity { return oneAheadIdentities() }

// electionPoll returns the cost of election/poll: that of lock/poll, except that the
// candidates that find no leader at the same time race. All but one of them fail to
// create the node.
func electionPoll(p Params) Expected {
	least := lockPoll(p)
	most := least
	most.Writes = p.term("2N+(N−1)(N−2)/2")
	most.FailedWrites = p.term("(N−1)(N−2)/2")
	least.Most = &most
	return least
}

func electionPollIdentities() []Identity {
	return []Identity{{"notifications = 0"}, {"K = 0"}, turnWrites()}
}
