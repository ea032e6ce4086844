package costmodel

// barrierWatch returns the cost of barrier/watch: each client reads when it arrives
// and again when it is woken, and the opening is one delete.
func barrierWatch(p Params) Expected { return p.expected("N", "2N", "1", "0", "N") }

func barrierWatchIdentities() []Identity {
	return []Identity{{"notifications = K − z"}, {"reads = K"}, oneWrite()}
}

// barrierPoll returns the cost of barrier/poll: each client reads when it arrives and q
// more times, the last time after the opening.
func barrierPoll(p Params) Expected { return p.expected("0", "N+qN", "1", "0", "0") }

func barrierPollIdentities() []Identity {
	return []Identity{{"notifications = 0"}, {"K = 0"}, oneWrite()}
}

// oneWrite is for recipes where a round is one opening, which is one write.
func oneWrite() Identity { return Identity{"writes = N"} }

// doubleBarrierReady returns the cost of double-barrier/ready and
// double-barrier/sequential for N clients that enter and then leave, the last one
// first. To enter, each client watches for the node ready and lists once; ready wakes
// all clients, the last one too. To leave, each client lists, and lists again when it
// is woken, and all but one watch one node each. In the form ready all watch the lowest
// node; in sequential each watches the next lower node. The sums are the same, and in
// both forms the largest fan-out is that of ready.
func doubleBarrierReady(p Params) Expected { return p.expected("2N−1", "5N−2", "2N+1", "0", "N") }

func doubleBarrierReadyIdentities() []Identity {
	return []Identity{
		// A client that enters lists once and watches for a node that does not
		// exist yet. A client that leaves lists once more than it watches.
		{"notifications = lists − z"},
		{"reads = lists + K"},
		// lists − K is the number of clients in all rounds. Each client creates and
		// deletes a node of its own, and each round creates ready once. Of several
		// clients that find the barrier complete at the same time, all but one fail
		// to create ready.
		{"writes = N + 2(lists − K) + failed"},
	}
}

// doubleBarrierChildrenWatch returns the cost of double-barrier/children-watch: each
// arrival wakes all clients that have arrived. Each of them lists again, and reads
// whether the barrier was complete. In the end all clients find it complete, and each
// writes that. Each is left with a watch, which fires when the first client leaves.
// From then on, each client that leaves wakes all that left before it.
func doubleBarrierChildrenWatch(p Params) Expected {
	return p.expected("N²", "N(3N+1)/2", "3N", "0", "N")
}

func doubleBarrierChildrenWatchIdentities() []Identity {
	return []Identity{
		// Every list arms a watch. The last watches fire when the double barrier is
		// removed after the round.
		{"notifications = lists"},
		{"reads ≤ 2·lists"},
		{"failed = 0"},
	}
}

// commitCoordinator returns the cost of two-phase-commit/coordinator: N sites join, then a
// coordinator begins, and then N sites vote to commit. Each site reads the decision before
// and after it is made, and the coordinator reads each vote before and after it is cast.
func commitCoordinator(p Params) Expected { return p.expected("2N", "4N", "N+1", "0", "N") }

// commitEphemeralSites returns the cost of two-phase-commit/ephemeral-sites: the same, plus
// one node that each site creates when it joins.
func commitEphemeralSites(p Params) Expected {
	e := commitCoordinator(p)
	e.Writes = p.term("2N+1")
	return e
}

// commitAllWatchAll returns the cost of two-phase-commit/all-watch-all: each site reads each
// vote, including its own, before and after it is cast.
func commitAllWatchAll(p Params) Expected { return p.expected("N²", "2N²", "N", "0", "N") }

// commitIdentities hold because every watch fires. A watch on which no client waits any
// more, because a site has aborted, fires at the latest when the transaction's nodes are
// removed after the round.
func commitIdentities() []Identity {
	return []Identity{
		{"notifications = gets − missed gets + K"},
		{"reads ≤ 2(gets + K)"},
		{"writes ≤ N + 2·gets"},
		{"failed = 0"},
	}
}
