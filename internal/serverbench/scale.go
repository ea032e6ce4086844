package main

import "time"

// A scale is the size of the load in each part.
type scale struct {
	ensembles bool   // compare ensembles instead of single servers
	only      string // the only part to measure; "" for all

	// Throughput: the number of connections and of requests in flight on each. Sides are
	// interleaved, each for the window; a single request at a time is measured for a third of
	// it.
	connections, outstanding int
	rounds                   int
	window                   time.Duration
	loaded                   time.Duration // full load of an ensemble in which elections are counted

	watchers, changes int // number of sessions that watch a node, and of writes to it

	sessions, releases int           // number of sessions that wait for a lock, and of its releases
	quiet              time.Duration // time without load before memory is measured

	parents, children int // number of parent nodes, and of children of each
	restarts          int // starts of each server
}

// full takes some minutes, and with ensembles a quarter of an hour. A thousand requests in flight are
// far more than either server can commit to disk together, and few enough per session that a single
// connection is not the bottleneck.
func full() scale {
	return scale{
		connections: 64, outstanding: 16, rounds: 5, window: 2 * time.Second, loaded: 10 * time.Minute,
		watchers: 5_000, changes: 11,
		sessions: 10_000, releases: 200, quiet: 10 * time.Second,
		parents: 1_000, children: 1_000, restarts: 3,
	}
}

// files returns the number of files that a process may need to have open: the watchers of both
// servers and of the floor at the same time, or the sessions that wait for the lock, plus a
// reserve.
func (sc scale) files() uint64 {
	return uint64(max(3*sc.watchers, sc.sessions) + 500)
}
