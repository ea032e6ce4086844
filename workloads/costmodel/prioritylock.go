package costmodel

// The settled run of a priority lock has writers only. Each that arrives is more urgent than all
// before: it asks the holder, which is the first, and passes all that wait.

// priorityLockNearest returns the cost of priority-lock/nearest: a client that looks reads the
// holders and the line, and it looks when it arrives, when it is passed, and when it is its turn. To
// ask the holder is to wake the client that waited for it. The first holder reads the request when it
// releases the lock, with a watch that fires at the release.
func priorityLockNearest(p Params) Expected {
	return p.expected("2N−2", "max(2, 8N−8)", "4N−1", "0", "min(2, 2N−2)")
}

// priorityLockLaserBeams returns the cost of priority-lock/laser-beams: a client that arrives asks
// the holder, deletes its node, and looks again. So no client waits, and each holder but the last
// finds no node to read or to delete.
func priorityLockLaserBeams(p Params) Expected {
	return p.expected("0", "5N−3", "5N−2", "N−1", "0")
}

// priorityLockChildrenWatch returns the cost of priority-lock/children-watch: that of the lock, where
// a look is two reads, plus the requests and the watch of the first holder.
func priorityLockChildrenWatch(p Params) Expected {
	return p.expected("N²−N+min(2, N)", "2N²−2N+min(3, N+1)", "4N−1", "0", "N")
}

// priorityLockIdentities: every watch on a node in the line fires. A client that looks twice while
// it waits for the same node has one watch on it.
func priorityLockIdentities() []Identity {
	return []Identity{
		{"gets − missed gets ≤ notifications"},
		{"notifications ≤ K − z + gets − missed gets"},
		{"reads = 2lists + K + gets"},
		{"N + K ≤ lists"},
		revocableWrites(),
	}
}

// priorityLockChildrenWatchIdentities: a client that looks again because the holders have changed
// has one watch for both looks.
func priorityLockChildrenWatchIdentities() []Identity {
	return []Identity{
		{"lists ≤ notifications + failed"},
		{"notifications ≤ lists + gets − missed gets"},
		{"reads = 2lists + gets"},
		revocableWrites(),
	}
}
