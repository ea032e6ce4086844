// Package tree implements the state of a ZooKeeper-compatible server, its nodes and sessions, as a
// deterministic state machine.
//
// Every change of the state is a transaction ([Txn]) passed to [Tree.Apply]; this includes the
// expiry of sessions and of nodes with a TTL. The same transactions in the same order produce the
// same state, results and events on any machine, so they can be logged and replicated. The package
// does no I/O, and uses no clock and no random numbers that affect results. Nothing in it is safe
// for concurrent use.
//
// [Watches] is the table of watchers, which is not part of the state. It determines which watchers
// an [Event] notifies.
package tree
