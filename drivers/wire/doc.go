// Package wire implements ZooKeeper's wire protocol: the records that clients and servers
// exchange, and the [Tap], a net.Conn that observes them.
//
// A packet is a 4-byte big-endian length and a payload of jute records: big-endian integers,
// one-byte booleans, and strings, buffers and vectors with an int32 length, where −1 stands
// for null. A request begins with a [RequestHeader], a reply with a [ReplyHeader]; the two
// packets that open a session have no header. Source: zookeeper.jute of Apache ZooKeeper.
package wire
