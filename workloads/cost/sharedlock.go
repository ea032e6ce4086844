package cost

// sharedLockNearest: a writer watches the one ahead, who goes last of all that
// are ahead, and a reader the nearest writer, so everybody but the first is
// woken once; the last writer's going wakes all readers, and all can go on.
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

// sharedLockChildrenWatch: up to the last writer's release it is the lock, where
// an arrival wakes all who wait and a release all who are left; then the readers
// hold, and the release of the first of them fires the watches of all.
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

// sharedLockLowestWrite: every writer's release wakes the next writer and all
// readers, who go back to sleep but for the last time.
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

// sides are all clients, the writers and the readers among them.
func (p Params) sides() (n, w, r int64) { return p.Clients, p.Writers, p.Clients - p.Writers }
