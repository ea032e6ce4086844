// Package native is a server that speaks ZooKeeper's protocol: over sockets,
// and over in-memory connections, for tests that need no network and no clock.
//
// A [Server] keeps its state in memory, and if it is given a journal, every
// change of it on disk: no packet is sent before what it shows is there. One lock orders everything that happens
// to it; whoever holds the lock queues replies and notifications for any number
// of connections and hands them over before letting go, so a notification is
// always queued before any reply that shows its change, the writer's own reply
// included. Every connection has two goroutines: one takes in what has arrived,
// many requests under one lock, the other writes what was queued, and waits for
// a slow client where nobody else waits with it.
//
// Package tree holds the state itself; every change of it is one tree.Txn given
// to apply, in the one order of all. Not served are reconfig and SASL, which are
// answered as by a server that has them turned off; quotas are not enforced.
package native
