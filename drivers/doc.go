// Package drivers says what a session with a coordination service is.
//
// A [Conn] is one client session; a [Service] opens them; a [Watch] is how a
// call arms a one-shot watch; a [Wait] is how everything in this project waits
// for one. The packages below this one are the backends (zookeeper, native,
// etcd), the lean client for ZooKeeper's protocol (lean) and what both ZooKeeper
// clients share (ensemble, wire), the suites that every backend passes
// (drivertest) and the table that finds a backend by its URL (backends).
//
// The contract is ZooKeeper's data model, narrowed to what the classic recipes
// need: a tree of small nodes with versions, ephemeral and sequential nodes,
// and watches that fire once. Nothing here knows of recipes, metrics or runs.
package drivers
