// Package drivers defines a client session with a coordination service, for all backends.
//
// A [Conn] is one client session. A [Service] opens sessions. A [Watch] is the function
// that a call arms as a one-shot watch. A [Wait] waits for a watch to fire; all code in
// this project waits for watches with it. Among the packages below this one are the
// backends (zookeeper, native, etcd), the lean client for ZooKeeper's protocol (lean),
// the code that both ZooKeeper clients share (ensemble, wire), the suites that every
// backend passes (drivertest) and the table that finds a backend by its URL (backends).
//
// The contract is ZooKeeper's data model, reduced to what the classic recipes need: a
// tree of small nodes with versions, ephemeral and sequential nodes, and watches that
// fire once. Nothing here depends on recipes, metrics or runs.
package drivers
