// Package client tells the clients of a service apart: which of their connections are one session, and
// which process or address asks what.
//
// A session of ZooKeeper's protocol has a number. etcd has none, so of etcd a session is what one client has:
//
//   - Connections that use the same lease are one session, also one after the other: they were granted it, keep
//     it alive, write with it or revoke it.
//   - Other connections of one local process are as many sessions as were open at once: a client may open
//     a connection for each request, and a process may have many clients.
//   - All connections of a process are one session if it has one session with leases, few connections, and
//     no two of them are known to be of different clients: they have watched the same path pattern while
//     both were open, or one change has woken both. So a herd of many clients in one process remains one.
//   - So they are without leases, too, if one of them carries nothing but a watch: its client acts by another one.
//   - Any other connection is a session: an address may be that of many programs, and it joins nothing.
//
// What a change wakes is counted by sessions, never by processes.
package client
