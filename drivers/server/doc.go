// Package server implements a server that speaks ZooKeeper's protocol. It serves sockets, and
// in-memory connections for tests that need no network and no clock. It serves alone or as a member of an
// ensemble.
//
// A [Server] keeps its state in memory. With a journal, it also writes every change to disk, and
// sends no packet before the state that the packet shows is on disk. One lock orders all changes.
// The goroutine that holds the lock queues replies and notifications for any number of connections
// and passes them to the outboxes before it unlocks. A notification is therefore always queued
// before any reply that shows its change, including the writer's own reply. Every connection has
// two goroutines: one reads requests and serves many of them under one lock; the other writes what
// is queued, so a slow client delays only its own connection.
//
// # Ensembles
//
// A server from [NewMember] is one of several members with the same state. Package replica decides what the
// member does; this package does it. A request for a transaction is proposed to the ensemble, and the
// connection's reader goes on. When the member applies the transaction, the goroutine that holds the lock
// fires its events and queues the reply, as in a server that is alone. Other requests of the connection wait
// in its replica.Line until its earlier ones are answered; they are executed at once if there are none.
//
// Whenever the lock is released, messages go to package peers and appends to the goroutine that writes
// the log (package raftlog): everything that has gathered while it wrote the last time, with one
// sync. Entries go to other members before they are on the own disk. A change is shown when a majority has
// it on disk, the member itself included.
//
// # State
//
// Package tree holds the state. Every change is one tree.Txn, applied in one total order. The
// server does not support reconfig and SASL: it answers as a server does that has them disabled. It
// does not enforce quotas.
package server
