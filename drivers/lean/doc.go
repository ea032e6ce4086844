// Package lean is the lean client: it speaks ZooKeeper's protocol, keeps many
// requests in flight on each connection, and holds many sessions in little memory.
//
// A [Service] is given by addresses; a [Conn] is one session. It has one
// goroutine, which connects, and reads what the server sends: it settles calls,
// calls watches and tells the probe in the order of the connection. Requests are
// sent by whoever asks: who finds the connection idle sends what has gathered by
// then, in one write, and the others leave theirs to it. Nobody waits in a write
// for a server that does not read: what might not fit is left to a goroutine that
// ends with the work. Heartbeats of all sessions have one timer.
//
// A call that is given up returns at once, whatever the server does. Its request
// stays where it is in the connection's order, so a write that was given up is
// never applied after a later one. What must not be sent while there is no
// connection waits, and may be given up as well; after a reconnect watches are
// armed again before anything else is sent.
//
// Of the protocol it speaks what [drivers.Conn], [drivers.Fencer] and
// [drivers.PersistentWatcher] need. It knows every packet, so that it tells the
// probe itself, in the words of a [wire.Tap].
package lean
