// Package etcd opens sessions with an etcd service, using its client library v3.
//
// A [Service] is given by addresses, which may include that of a member that package member runs.
// A [Conn] is one session. ZooKeeper's data model maps to etcd as follows:
//
//	session      a lease, a key on it (prefix/sessions/LEASE), one connection, one
//	             watch stream. The client gives the session up as lost a tenth of
//	             the lease's time before the server may end it
//	node         a key: prefix/DEPTH/path, so that the children of a node are one
//	             range. The root always exists and has no key
//	ephemeral    the key is on the session's lease
//	sequential   the name gets a suffix, ~LEASE.N, that no other node ever has. The
//	             position in the order is the create revision
//	version      etcd's version minus one, since etcd counts from one
//	position     the revision
//	watch        an etcd watch, which is cancelled after its first event
//	WatchNode    two etcd watches: of the node's key and of its children's keys
//	WatchTree    one etcd watch of the keys of all nodes. The client delivers only
//	             the events of the tree: a tree is one range at each depth, and the
//	             depth has no limit
//
// On the wire, a call is:
//
//	Create, Delete, Set     one transaction. Its conditions are that the session is
//	                        alive and has not reconnected since, and what the
//	                        contract demands of parent, children and version. If
//	                        they hold it writes; if not it reads the reason
//	Exists, Get             one read of the node's key
//	Join                    a Create that also reads the two keys that were created last
//	Neighbors               one read of the two keys that were created last, up to a
//	                        revision
//	Children                one read of the range of the children's keys. If that
//	                        shows none, one transaction that also reads the node
//	with a Watch            also the creation of a watch and, some time later, its
//	                        cancellation. The read is repeated if it was answered
//	                        before the watch began and showed an older revision. It
//	                        is also repeated if Children found none, so that the
//	                        node itself has to be watched too
//	WatchNode, WatchTree    the creation of those watches; nothing is read
//	Sync                    one linearizable read
//	opening and closing     grant, the session's key, a watch of it; revoke
//	reconnecting            the session's key again, and the armed watches. Each
//	                        resumes from the revision of its read, but a persistent
//	                        watch resumes from now
//
// A [drivers.Probe] sees a call as one request and one reply, in the terms of the contract.
// The further messages that a call needs are drivers.OpOther. A notification is an event that
// fires a watch; other events are counted as bytes only. A call by a library on top of the
// session (concurrency.Mutex, through [Conn.LibraryForm]) is reported as the closest call of
// the contract. A transaction that puts a key on the condition that the key does not exist is
// a create. Any other put is a set. A read that can return several keys is a list. A
// transaction whose condition did not hold is a write that failed. Such a library creates its
// watches with separate requests, drivers.OpOther with Watch set. Each of these watches also
// fires once: at the first change after what the library has read. The library may have asked
// for older events as well, and it receives later ones.
//
// Differences from ZooKeeper:
//
// The server answers each call independently, not in the order of the session: a watch may
// fire before or after a later reply shows the change. A serializable read may be older than
// an event that was already delivered, because the server sends events before it publishes the
// write (server/storage/mvcc/watchable_store_txn.go:44, v3.7.3). The costs of recipes are
// therefore not exact with such reads. Names of sequential nodes do not sort. The server sets
// the minimum session timeout, in whole seconds.
//
// Deleting a node makes the server look at all its children. A listing makes it look at the
// names of all children that compaction has not yet removed, deleted ones included. A watch
// that was disconnected across a compaction fires if a new read shows a change; it misses a
// child that was created and deleted in between. A WatchTree costs as many bytes as everything
// that any client writes below the prefix, however small the tree.
//
// With several members, a persistent watch starts at the revision that the connected member
// has reached, and again so after a reconnect. It may therefore report changes that were
// acknowledged to another client, or shown by a read, just before. A session leaves a member
// that has had no leader for three election timeouts, as ZooKeeper's servers disconnect their
// clients. It also leaves a member that does not answer a heartbeat within its share of the
// lease's time, as ZooKeeper's clients leave a silent server.
package etcd
