package costmodel

// The forms in this file ship with etcd's client. In its packages, a watch event says
// what has happened, and no read arms a watch: reads do not include the watches.

// lockConcurrency returns the cost of lock/concurrency: etcd's Mutex learns from its
// create whether it is first. If it is not, it looks for the last key before its own,
// waits for that key's deletion, looks again, and checks that its own key still exists.
func lockConcurrency(p Params) Expected {
	e := lockPredecessor(p)
	e.Reads = p.term("3(N−1)")
	return e
}

func lockConcurrencyIdentities() []Identity { return []Identity{turnWrites()} }

// electionConcurrency returns the cost of election/concurrency: a client that campaigns
// looks for the last key before its own, waits for that key's deletion, and looks again.
func electionConcurrency(p Params) Expected {
	e := lockPredecessor(p)
	e.Reads = p.term("2N−1")
	return e
}

func electionConcurrencyIdentities() []Identity {
	return []Identity{{"reads = N + notifications"}, turnWrites()}
}

// sharedLockEtcdRecipes returns the cost of shared-lock/etcd-recipes: that of nearest,
// where each look is one read. There are more reads where etcd has compacted the
// revision from which a watch should start.
func sharedLockEtcdRecipes(p Params) Expected {
	e := sharedLockNearest(p)
	e.Reads = p.term("2N−1")
	return e
}

func sharedLockEtcdRecipesIdentities() []Identity {
	return []Identity{{"N + notifications ≤ reads"}, turnWrites()}
}

// barrierEtcdRecipes returns the cost of barrier/etcd-recipes: each client reads when it
// arrives, and is notified of the opening.
func barrierEtcdRecipes(p Params) Expected {
	e := barrierWatch(p)
	e.Reads = p.term("N")
	return e
}

func barrierEtcdRecipesIdentities() []Identity {
	return []Identity{{"notifications ≤ reads"}, oneWrite()}
}

// doubleBarrierEtcdRecipes returns the cost of double-barrier/etcd-recipes for N clients
// that enter and then leave, the last one first. To enter, each client lists before and
// after it creates its key. The last one creates ready, for which the others wait. To
// leave, each client lists. All but the lowest delete their keys, wait for the deletion
// of the lowest key, and list again. The lowest client also deletes ready.
func doubleBarrierEtcdRecipes(p Params) Expected {
	return p.expected("2(N−1)", "4N−1", "2(N+1)", "0", "N−1")
}

func doubleBarrierEtcdRecipesIdentities() []Identity {
	return []Identity{readsAreLists(), {"notifications ≤ lists"}, {"failed = 0"}}
}

// queueEtcdRecipes returns the cost of queue/etcd-recipes: a consumer reads the first
// item and deletes it. When an item arrives while k consumers wait, all k are notified
// and try to delete it. All but one fail and read again.
func queueEtcdRecipes(p Params) Expected {
	return p.expected("N(N−1)/2", "M+N(N−1)/2", "M+(N−1)(N+2)/2", "(N−1)(N−2)/2", "N−1")
}

// priorityQueueEtcdRecipes returns the cost of priority-queue/etcd-recipes: that of the
// queue, plus one read per put, of the last number.
func priorityQueueEtcdRecipes(p Params) Expected {
	e := queueEtcdRecipes(p)
	e.Reads = p.term("M+(N−1)(N+2)/2")
	return e
}

// queueEtcdRecipesIdentities hold for whole rounds; a round is an item put and taken.
// A put into the priority queue fails where another producer was faster.
func queueEtcdRecipesIdentities() []Identity {
	return []Identity{
		turnWrites(),
		{"notifications ≤ N + failed"},
		{"N + failed ≤ reads + notifications"},
	}
}
