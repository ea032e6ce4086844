package costmodel

// mutualWatchEach returns the cost of mutual-watch/watch-each. A client that joins lists, and
// watches each member; each member is woken by the group's watch, lists and watches the new one. A
// client that leaves wakes each member twice, by its node's watch and the group's, and the member
// lists once. It is also notified itself, and so are all that left before: the watches that they
// had on its node are still armed. So every watch fires, and every read arms one.
func mutualWatchEach(p Params) Expected {
	return p.expected("2N²−N", "2N²−N", "2N", "0", "N")
}

func mutualWatchEachIdentities() []Identity {
	return []Identity{{"reads = lists + K"}, {"notifications ≤ reads"}, oneWriteEach()}
}

// The members update their states one at a time, and then one of them reads all states, U times.

// memberStateOwnNode returns the cost of member-state/own-node: an update is one read and one
// write, and a member that reads all states lists them and reads each.
func memberStateOwnNode(p Params) Expected { return p.expected("0", "U(2N+1)", "N·U", "0", "0") }

func memberStateOwnNodeIdentities() []Identity {
	return []Identity{{"notifications = 0"}, {"failed = 0"}, {"writes ≤ reads"}, oneWrite()}
}

// memberStateOneNode returns the cost of member-state/one-node: an update is one read and one
// write, since none is refused, and one read returns all states.
func memberStateOneNode(p Params) Expected { return p.expected("0", "U(N+1)", "N·U", "0", "0") }

// memberStateOneNodeIdentities hold where all members update their states at the same time. Each
// update refuses at most once each of the members whose update has not been applied yet: C members
// take between C and C(C+1)/2 writes.
func memberStateOneNodeIdentities() []Identity {
	return []Identity{{"notifications = 0"}, {"writes = N + failed"}, {"writes ≤ N(C+1)/2"}, {"writes ≤ reads"}}
}
