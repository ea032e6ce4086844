package costmodel

// sharedLockNearest returns the cost of shared-lock/nearest: a writer watches the client
// right ahead, which is the last of those ahead to release, and a reader watches the
// nearest writer. So each client but the first is woken once. The last writer's release
// wakes all readers, and all of them get the lock.
func sharedLockNearest(p Params) Expected {
	n, w, r := p.sides()
	return Expected{
		Notifications: Term{"N−1", n - 1},
		Reads:         Term{"3N−2", 3*n - 2},
		Writes:        Term{"2N", 2 * n},
		FailedWrites:  Term{"0", 0},
		LargestFanout: Term{"max(R, min(1, W−1))", max(r, min(1, w-1))},
	}
}

// sharedLockChildrenWatch returns the cost of shared-lock/children-watch. Up to the last
// writer's release it is that of the lock: an arrival wakes all waiting clients, and a
// release wakes all remaining clients. Then the readers hold the lock, and the release of
// the first reader fires the watches of all readers.
func sharedLockChildrenWatch(p Params) Expected {
	n, w, _ := p.sides()
	all := 1 + n*(n-1)/2 + w*n - w*(w+1)/2
	return Expected{
		Notifications: Term{"1+N(N−1)/2+WN−W(W+1)/2", all},
		Reads:         Term{"1+N(N−1)/2+WN−W(W+1)/2", all},
		Writes:        Term{"2N", 2 * n},
		FailedWrites:  Term{"0", 0},
		LargestFanout: Term{"max(1, N−1)", max(1, n-1)},
	}
}

// sharedLockLowestWrite returns the cost of shared-lock/lowest-write: every writer's release
// wakes the next writer and all readers, and the readers wait again, except after the last
// writer.
func sharedLockLowestWrite(p Params) Expected {
	n, w, r := p.sides()
	woken := r*w + w - 1
	return Expected{
		Notifications: Term{"RW+W−1", woken},
		Reads:         Term{"N+2(RW+W−1)", n + 2*woken},
		Writes:        Term{"2N", 2 * n},
		FailedWrites:  Term{"0", 0},
		LargestFanout: Term{"R+min(1, W−1)", r + min(1, w-1)},
	}
}

// sides returns the numbers of all clients, of writers and of readers.
func (p Params) sides() (n, w, r int64) { return p.Clients, p.Writers, p.Clients - p.Writers }
