// Package zookeeper opens sessions with a ZooKeeper service through
// github.com/go-zookeeper/zk.
//
// A [Service] is given by addresses; a [Conn] is one session. What the library
// lacks is added around it: contexts (a call has a goroutine of the library's
// to itself and is left to it when the context ends), sessions that end instead
// of being replaced in silence, and watches without a goroutine and a channel
// each: a [wire.Tap] beneath the library tells which read armed a watch and
// which notification came, in the order of the connection, so a watch is called
// before the library has read any later reply.
package zookeeper
