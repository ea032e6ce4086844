// Package lean is a client of ZooKeeper's protocol that keeps many requests in flight on each
// connection and holds many sessions in little memory.
//
// A [Service] is given by addresses; a [Conn] is one session. A session has one goroutine,
// which connects and reads what the server sends. It completes calls, calls watches and
// notifies the probe, all in the order of the connection. Callers send the requests: a caller
// that finds the connection idle sends all requests queued so far in one write, and other
// callers leave theirs in the queue. No caller blocks in a write to a server that does not
// read: requests that might not fit into the connection's buffers are sent by a goroutine,
// which ends when the queue is empty. One timer per service sends the heartbeats of all its
// sessions.
//
// A call whose context ends returns immediately, whatever the server does. Its request keeps
// its place in the connection's order, so an abandoned write is never applied after a later
// one. Requests that must not be sent while there is no connection wait, and their callers can
// cancel them too. After a reconnect the watches are armed again before anything else is sent.
//
// The package implements the part of the protocol that [drivers.Conn], [drivers.Flusher] and
// [drivers.PersistentWatcher] need. It knows every packet, so it notifies the probe itself, in
// the terms of a [wire.Tap].
package lean
