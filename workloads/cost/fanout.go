package cost

// fanoutPersistent: everybody reads once, after the watch that stays is armed, and
// is told of each change. With watches that fire once a fan-out costs what a
// config does.
func fanoutPersistent(p Params) Expected {
	e := configWatch(p)
	e.Reads = Term{"N", p.Clients}
	return e
}
