package main

import "time"

// A scale is how much of everything is done.
type scale struct {
	only string // the one part that is measured; "" for all

	// Throughput: so many connections with so many requests under way on each,
	// by turns for the window; one request alone for a third of it.
	connections, outstanding int
	rounds                   int
	window                   time.Duration

	watchers, changes int // sessions that watch a node; how often it is written

	sessions, releases int           // that stand in line for a lock; how often it is released
	quiet              time.Duration // for how long nothing happens before memory is looked at

	parents, children int // nodes, and how many below each
	restarts          int // of each server
}

// full takes some minutes. A thousand requests under way are far more than
// either server confirms on disk at once, and no session has so many that one
// connection would be what is measured.
func full() scale {
	return scale{
		connections: 64, outstanding: 16, rounds: 5, window: 2 * time.Second,
		watchers: 5_000, changes: 11,
		sessions: 10_000, releases: 200, quiet: 10 * time.Second,
		parents: 1_000, children: 1_000, restarts: 3,
	}
}

// files is how many a process may need to have open: the watchers of both
// servers and of the floor at once, or the lock's, and some to spare.
func (sc scale) files() uint64 {
	return uint64(max(3*sc.watchers, sc.sessions) + 500)
}
