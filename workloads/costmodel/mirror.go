package costmodel

// MirrorNodes is M, the number of nodes of a mirrored tree, in a settled run and in any other: few
// enough to follow a run step by step, and enough to tell one read from the reads of all.
const MirrorNodes = 5

// The clients follow, one at a time, and then a node is set, another one created, and that one deleted,
// U times. A deletion fires the watches of the node and of its parent.

// mirrorEach returns the cost of mirror/watch-each: each client lists the tree and reads all nodes once.
// It reads the node that was set, lists the tree and reads the node that was created, and does so again
// when it was deleted.
func mirrorEach(p Params) Expected { return mirror(p, "4N·U", "N(M+1+5U)") }

// mirrorRelist returns the cost of mirror/relist: each client reads everything again for each
// notification, of which a deletion causes two. The tree has one node more once a node was created.
func mirrorRelist(p Params) Expected { return mirror(p, "4N·U", "N(M+1+U(4M+5))") }

// mirrorRecursive returns the cost of mirror/recursive: each client lists the tree and reads all nodes
// once, and then reads the node of each event.
func mirrorRecursive(p Params) Expected { return mirror(p, "3N·U", "N(M+1+3U)") }

func mirror(p Params, notifications, reads string) Expected {
	p.Items = MirrorNodes // the M of the formulas
	return p.expected(notifications, reads, "3U", "0", "N")
}

// mirrorEachIdentities use that a watch is armed only where none is.
func mirrorEachIdentities() []Identity {
	return []Identity{oneWriteEach(), {"notifications ≤ reads"}}
}
