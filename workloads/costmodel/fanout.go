package costmodel

// fanoutPersistent returns the cost of fanout/persistent: each client reads once, after
// it has armed its persistent watch, and is notified of each change. With one-shot
// watches, a fan-out costs the same as a config.
func fanoutPersistent(p Params) Expected {
	e := configWatch(p)
	e.Reads = Term{"N", p.Clients}
	return e
}
