// Package targets makes the clients of another program targets of faults. It stands between them and an
// observing proxy, so that the proxy sees what the service sees: a reply that is lost was sent.
//
// A [Program] is given every connection of a client, by [Program.Wrap]. It finds out whose it is before
// anything passes. A client of ZooKeeper is a session, which its first packet names. One of etcd is a process
// of this machine, or an address whose process is not known: sessions of etcd have no number.
//
// What breaks connections, slows them down or silences them is done to all bytes of a client, by its
// [faults.Link]. For the rest the replies are decoded, packet by packet: a reply is lost or a notification is
// held back, and all else passes.
package targets
