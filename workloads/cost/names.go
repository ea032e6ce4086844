package cost

// namesCached: everybody reads each name once, and after an update, which wakes
// all, the one that has changed. How often they look up does not matter. With one
// watch over all names, which names/recursive has, it is the same.
func namesCached(p Params) Expected {
	n, m, u := p.Clients, p.Names, p.Updates
	return Expected{
		Notifications: Term{"N·U", n * u},
		Reads:         Term{"N(M+U)", n * (m + u)},
		Writes:        Term{"U", u},
		FailedWrites:  Term{"0", 0},
		LargestFanout: Term{"N", n},
	}
}

// namesLookup: every look-up is a read.
func namesLookup(p Params) Expected {
	n, m, u, l := p.Clients, p.Names, p.Updates, p.Lookups
	return Expected{
		Notifications: Term{"0", 0},
		Reads:         Term{"N·L·M(1+U)", n * l * m * (1 + u)},
		Writes:        Term{"U", u},
		FailedWrites:  Term{"0", 0},
		LargestFanout: Term{"0", 0},
	}
}
