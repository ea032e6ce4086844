package costmodel

// configWatch returns the cost of config/watch: each client reads once at the start. A
// change wakes all clients, and each reads again. All of them need the new value, so
// this is no herd. The persistent watches of config/persistent cause as many
// notifications and as many reads.
func configWatch(p Params) Expected { return p.expected("N·U", "N(1+U)", "U", "0", "N") }

// configWatchIdentities use that the workload waits until all clients have seen a change, so no
// client misses one.
func configWatchIdentities() []Identity {
	return []Identity{{"reads = watching gets"}, {"notifications ≤ reads"}, oneWriteEach()}
}

func configPersistentIdentities() []Identity {
	return []Identity{{"watching gets = 0"}, oneWriteEach()}
}

// configPoll returns the cost of config/poll: each client reads once at the start, and
// q times for each change.
func configPoll(p Params) Expected { return p.expected("0", "N(1+q·U)", "U", "0", "0") }

func configPollIdentities() []Identity {
	return []Identity{{"notifications = 0"}, {"watching gets = 0"}, oneWriteEach()}
}

// oneWriteEach is for recipes where a round is one update, which is one write.
func oneWriteEach() Identity { return Identity{"writes = U"} }

// The clients join one at a time and then leave one at a time, in the same order. A
// client that leaves has stopped following, but its last one-shot watch is still armed,
// and its own leaving fires it.

// groupRing returns the cost of group/ring: a client that joins lists and watches the
// member ahead. The first member watches the whole group, so it lists again. Here it is
// always the first member that leaves. This fires its own watch and its successor's. The
// successor lists, finds itself first, and lists with a watch. A member that fails in
// the middle would wake its neighbor, which reads twice, and the first, which reads once.
func groupRing(p Params) Expected { return p.expected("3N−2", "5N−3", "2N", "0", "min(2, N)") }

func groupRingIdentities() []Identity {
	return []Identity{{"reads = lists + K"}, {"notifications ≤ reads"}, oneWriteEach()}
}

// groupChildrenWatch returns the cost of group/children-watch: a client that joins wakes
// all members, and a client that leaves wakes all members and itself.
func groupChildrenWatch(p Params) Expected { return p.expected("N²", "N²", "2N", "0", "N") }

func groupChildrenWatchIdentities() []Identity {
	return []Identity{readsAreLists(), {"notifications ≤ lists"}, oneWriteEach()}
}

// groupRecursive returns the cost of group/recursive: a client that joins lists once. It
// is notified of all clients that join and leave after it, until it stops following.
func groupRecursive(p Params) Expected { return p.expected("N(N−1)", "N", "2N", "0", "N−1") }

func groupRecursiveIdentities() []Identity { return []Identity{readsAreLists(), oneWriteEach()} }
