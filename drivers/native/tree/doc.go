// Package tree is the state of a ZooKeeper-compatible service: its nodes and
// its sessions, as a deterministic state machine.
//
// Everything that changes the state is a transaction ([Txn]) given to
// [Tree.Apply]; the clock and the end of sessions are transactions too. The
// same transactions in the same order make the same state, results and events
// anywhere, so they can be logged and replicated. Nothing here does I/O, looks
// at a clock or draws a random number, and nothing is safe for concurrent use.
//
// [Watches] is the table beside the state that says who is told of an [Event].
package tree
