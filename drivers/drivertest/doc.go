// Package drivertest is the conformance suite for the contract in package drivers, in the
// manner of testing/fstest.
//
// A backend's whole test is one line:
//
//	func TestConn(t *testing.T) { drivertest.Run(t, open) }
//
// [Run] is the portable suite. [RunOrdered] is a second one, for backends that speak
// ZooKeeper's protocol: it tests the order in which events and replies reach a session.
// [RunPersistent] is a third, for Conns that are [drivers.PersistentWatcher]. Each has a
// variant with the suffix Bubbled for services that need no socket. It runs each case in
// a testing/synctest bubble, where a case that hangs fails immediately.
//
// Each case says in a sentence or two what the contract promises and why recipes need it,
// and prints that when it fails. No case measures time; the only deadline is the one that
// fails a case that hangs. To prove that something did not happen, cases use
// [drivers.Flusher], so a Conn under test must be one.
package drivertest
