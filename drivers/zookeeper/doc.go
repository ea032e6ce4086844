// Package zookeeper opens sessions with a ZooKeeper service through
// github.com/go-zookeeper/zk, and runs local servers.
//
// A [Service] is given by addresses; a [Conn] is one session. What the library
// lacks is added around it: contexts (each call of the library has a goroutine,
// which it is left to when the context ends), sessions that end instead of
// being replaced in silence, and watches without a channel and a goroutine
// each: a [wire.Tap] beneath the library tells which read armed a watch and
// which notification came, in the order of the connection, so a watch is called
// before the library has read any later reply.
//
// Connections may be encrypted, beneath the tap, and sessions may have digest
// credentials, which the library repeats on every connection.
//
// [RunMember] runs a server of this machine's installation, by itself or as one of an
// ensemble.
package zookeeper
