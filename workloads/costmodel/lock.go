package costmodel

// lockPredecessor returns the cost of lock/predecessor: a client lists once when it
// arrives, watches the client ahead, and lists again when it is woken. The first client
// does not wait. The Lock of go-zookeeper watches with get instead of exists; the sums
// are the same.
func lockPredecessor(p Params) Expected {
	return p.expected("N−1", "3N−2", "2N", "0", "min(1, N−1)")
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
	return []Identity{{"lists = N + K"}, {"notifications = K − z"}, {"reads = lists + K"}}
}

// onlyTheNext is for forms in which each client but the first waits exactly once.
func onlyTheNext() Identity { return Identity{"K ≤ max(0, N−1)"} }

// lockOneNode returns the cost of lock/one-node: each client that arrives second or later
// fails to create the node, and watches it. Each release wakes all waiting clients, and
// all but one fail again.
func lockOneNode(p Params) Expected {
	return p.expected("N(N−1)/2", "N(N−1)/2", "N(N+3)/2", "N(N−1)/2", "N−1")
}

func lockOneNodeIdentities() []Identity {
	return []Identity{
		{"failed creates = K"},
		// A watch set by exists on a missing node counts as well: it fires when the
		// node is created again, possibly by the client that set the watch.
		{"notifications = K"},
		{"reads = K"},
		turnWrites(),
	}
}

// lockChildrenWatch returns the cost of lock/children-watch: an arrival wakes all waiting
// clients, and a release wakes all remaining clients; each lists once. The holder does
// not list again, but its last watch still fires: at the next arrival, or at its own
// release.
func lockChildrenWatch(p Params) Expected {
	return p.expected("N²−N+1", "N²−N+1", "2N", "0", "max(1, N−1)")
}

func lockChildrenWatchIdentities() []Identity {
	return []Identity{{"notifications = lists"}, readsAreLists(), turnWrites()}
}

// lockPoll returns the cost of lock/poll: each client lists once when it arrives, and q
// times for each turn that it waits for.
func lockPoll(p Params) Expected { return p.expected("0", "N+q·N(N−1)/2", "2N", "0", "0") }

func lockPollIdentities() []Identity {
	return []Identity{{"notifications = 0"}, readsAreLists(), turnWrites()}
}

// lockGoZookeeperIdentities differ from the other locks' because the watches of go-zookeeper's Lock
// are gets. A get that finds no node sets no watch, and the Lock lists again.
func lockGoZookeeperIdentities() []Identity {
	return []Identity{
		{"lists = N + gets"},
		{"notifications = gets − missed gets"},
		{"reads = lists + gets"},
		turnWrites(),
	}
}

// turnWrites is for forms in which a turn is one create and one delete, besides failed
// creates.
func turnWrites() Identity { return Identity{"writes = 2N + failed"} }

func readsAreLists() Identity { return Identity{"reads = lists"} }

// sharedLockNearest returns the cost of shared-lock/nearest: a writer watches the client
// right ahead, which is the last of those ahead to release, and a reader watches the
// nearest writer. So each client but the first is woken once. The last writer's release
// wakes all readers, and all of them get the lock.
func sharedLockNearest(p Params) Expected {
	return p.expected("N−1", "3N−2", "2N", "0", "max(R, min(1, W−1))")
}

// sharedLockChildrenWatch returns the cost of shared-lock/children-watch. Up to the last
// writer's release it is that of the lock: an arrival wakes all waiting clients, and a
// release wakes all remaining clients. Then the readers hold the lock, and the release of
// the first reader fires the watches of all readers.
func sharedLockChildrenWatch(p Params) Expected {
	return p.expected("1+N(N−1)/2+WN−W(W+1)/2", "1+N(N−1)/2+WN−W(W+1)/2", "2N", "0", "max(1, N−1)")
}

// sharedLockLowestWrite returns the cost of shared-lock/lowest-write: every writer's release
// wakes the next writer and all readers, and the readers wait again, except after the last
// writer.
func sharedLockLowestWrite(p Params) Expected {
	return p.expected("RW+W−1", "N+2(RW+W−1)", "2N", "0", "R+min(1, W−1)")
}
