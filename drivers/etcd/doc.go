// Package etcd opens sessions with an etcd service, on its client library v3.
//
// A [Service] is given by addresses, perhaps that of a member which [RunMember]
// runs beside; a [Conn] is one session. What ZooKeeper's data model is made of:
//
//	session      a lease, a key on it (prefix/sessions/LEASE), one connection,
//	             one watch stream; a tenth of the lease's time before the server
//	             may end it the session gives itself up as lost
//	node         a key: prefix/DEPTH/path, so that the children of a node are one
//	             range; the root is always there and has none
//	ephemeral    the key is on the session's lease
//	sequential   the name gets a suffix, ~LEASE.N, that no other node ever has;
//	             the place in the order is the create revision
//	version      etcd's, which counts from one, less one
//	position     the revision
//	watch        a watch of etcd, which is cancelled after its first event
//	WatchNode    two watches of etcd, of the node's key and of its children's
//	WatchTree    one of the keys of all nodes, of which those of the tree are told:
//	             a tree is one range at each depth, and has no last one
//
// What a call is on the wire:
//
//	Create, Delete, Set     one transaction: that the session lives and has not
//	                        reconnected since, what the contract demands of
//	                        parent, children and version, and the write; where
//	                        that does not hold it reads why
//	Exists, Get             one read of the node's key
//	Children                one read of the range of the children's keys and, where
//	                        that shows none, one transaction that reads the node
//	                        as well
//	with a Watch            beside it the creation of a watch, and some time later
//	                        its end. If the read was answered before the watch
//	                        began, and showed an older revision, or if Children
//	                        found none, so that the node itself has to be watched
//	                        too, it is repeated
//	WatchNode, WatchTree    the creation of those watches; nothing is read
//	Sync                    one linearizable read
//	opening and closing     grant, the session's key, a watch of it; revoke
//	reconnecting            the session's key again, and the armed watches, each
//	                        from its read on, but persistent ones from now on
//
// A [drivers.Probe] sees a call as one request and one reply in the words of the
// contract, and the rest, which is there on the wire all the same, as
// drivers.OpOther. A notification is an event that fires a watch; other events
// are bytes. A call of a library on top of the session (concurrency.Mutex, by
// [Conn.LibraryForm]) is seen as what comes closest: a transaction that puts a
// key on condition that there is none is a create, any other put a set, a read
// of what may be many keys a list. A transaction whose condition did not hold is a
// write that failed. Such a library creates its watches by requests of their own,
// drivers.OpOther with Watch set. They fire once as well, by the first change
// after what the library has read, though it may have asked to be told of older
// ones and is told of later ones.
//
// What differs from ZooKeeper. A call is answered on its own, not in the order
// of the session: a watch may be called before or after a later reply shows the
// change. A serializable read may be behind an event that was told already: the
// server sends events before it publishes the write
// (server/storage/mvcc/watchable_store_txn.go:44, v3.7.3). So what recipes cost
// with such reads is not exact. Names of sequential nodes do not sort. The least session time-out is
// that of the server, in whole seconds. Deleting a node looks at all its
// children, and a listing at the names of all children that the server has not
// forgotten by compaction, deleted ones too. A watch that was away over a
// compaction is told what a new read shows; that a child came and went is not
// seen. A WatchTree costs as many bytes as all that is written below the prefix,
// whoever writes it and however small the tree. On several members a persistent
// watch begins, and begins again after a reconnect, where the member at hand has got
// to: it may be told of changes that somebody was acknowledged, or that a read
// showed, just before. A member that has had no leader for three election time-outs
// is left for another, as ZooKeeper's servers turn their clients away, and so is one
// that does not answer a heartbeat in its share of the lease's time, as ZooKeeper's
// clients leave a silent server.
package etcd
