// Package partition provides the network between the members of an ensemble, so that traffic between
// them can be delayed, throttled or blocked.
//
// [Links] runs a SOCKS5 proxy (RFC 1928) for each member. Only that member uses it, for its
// connections to the others. The two ends of each connection are therefore known, whatever protocol
// they speak. Java and Go clients can be configured to connect through such a proxy, even to an
// address that one member has learned from another.
//
// Note: a proxy in front of each member's port is not enough. It would have to identify the caller,
// which only some of etcd's requests do. And a ZooKeeper that is called by a member of a lower
// number hangs up and calls back at the address that the caller sent, which is the one that the
// caller listens at.
//
// Note: libraries do less of this than they would add. A SOCKS5 server such as go-socks5 dials and
// copies by itself; here the caller must wait unanswered while its link is blocked, and the data must
// pass a [faults.Link], so that only the reading of one request would be left to the library. A
// toxiproxy listens at one port for each fixed target, does not know the caller, and closes the
// connections of a target that it disables, which tells both ends.
package partition
