// Package zookeeper opens sessions with a ZooKeeper service through
// github.com/go-zookeeper/zk, and runs local servers.
//
// A [Service] is given by addresses; a [Conn] is one session. This package adds what the
// library lacks. Calls have contexts: each call of the library runs on a goroutine, which is
// left to finish when the context ends. A session that is lost ends, while the library would
// silently replace it. A watch needs no channel and no goroutine: a [wire.Tap] beneath the
// library reports which read armed a watch and which notification arrived, in the order of the
// connection, so a watch is called before the library has read any later reply.
//
// It is a thin adapter: it changes nothing that the library sends or receives. What the library
// therefore does not support is declared in the table of clients in package backends. The
// adapter avoids one defect: after a reconnect it calls the library only when that has begun to
// arm its watches again.
//
// Connections may be encrypted, beneath the tap. Sessions may have digest credentials, which
// the library sends again on every connection.
//
// [RunMember] runs a server of this machine's installation, by itself or as a member of an
// ensemble.
package zookeeper
