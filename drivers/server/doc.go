// Package server implements a server that speaks ZooKeeper's protocol. It serves sockets, and
// in-memory connections for tests that need no network and no clock.
//
// A [Server] keeps its state in memory. With a journal, it also writes every change to disk, and
// sends no packet before the state that the packet shows is on disk. One lock orders all changes.
// The goroutine that holds the lock queues replies and notifications for any number of connections
// and passes them to the outboxes before it unlocks. A notification is therefore always queued
// before any reply that shows its change, including the writer's own reply. Every connection has
// two goroutines: one reads requests and serves many of them under one lock; the other writes what
// is queued, so a slow client delays only its own connection.
//
// Package tree holds the state. Every change is one tree.Txn, applied in one total order. The
// server does not support reconfig and SASL: it answers as a server does that has them disabled. It
// does not enforce quotas.
package server
