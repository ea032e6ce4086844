package costmodel

// namesCached returns the cost of names/cached: each client reads each name once. An
// update wakes all clients, and each reads the changed name again. The number of look-ups
// does not matter. names/recursive, with one watch over all names, costs the same.
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

// namesLookup returns the cost of names/lookup: every look-up is a read.
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
