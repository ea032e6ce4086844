// Package delivery checks that a service delivers notifications as its protocol promises: each one
// once, in order, none missing, and before the data that it announces.
//
// # What ZooKeeper promises
//
// A server sends the notifications and the replies of one connection in the order of their zxids. A
// client gets the notification of a change before any reply whose zxid is at least that of the
// change, the replies to its own writes included. Hence:
//
//   - A read with a watch arms it as of the zxid of its reply. It is one of two kinds: exists and
//     getData watch the node, getChildren watches the list of its children. Only exists arms a watch
//     on a missing node, which fires when the node is created.
//
//   - A watch fires once, for the first change after it was armed. A deletion fires both kinds of
//     watches on the node, with one packet for a session that has both, and the watch on the children
//     of the parent. Arming a watch that is armed changes nothing.
//
//   - A persistent watch fires for every change of its node and of the list of its children, a
//     recursive one for every change of its node and all below it, but not for lists of children. Both
//     stay until they are removed, or until the session ends. One-shot watches on the same path as a
//     persistent watch depend on the version of the server, so none of their notifications is owed.
//
//   - All operations of a transaction have one zxid. Each has its notifications.
//
//   - A connection that breaks takes the watches with it. The client arms them again with setWatches
//     and the zxid that it has seen. The server compares: it sends a notification immediately, before
//     its reply, if the node or its list of children has changed since or is gone, and arms the watch
//     otherwise. It does so for each watch: of a node that is gone, both kinds of watches are notified.
//     A node that was missing, and is again, has not changed. Persistent watches do not catch up.
//
//   - The end of a session deletes its ephemeral nodes, at the zxid of the reply to the request to close it. That of an expiry is
//     known only by the notifications of it.
//
//   - The end of the session ends its watches. The reply to the request to close it is a reply like any other: they
//     are owed what has changed before.
//
//   - A request to remove watches is a request like any other: what has changed before its reply is owed. What changes
//     later is not owed to watches of the kinds that it names, if the reply says that they were removed.
//
// Notifications carry the zxid of the change from ZooKeeper 3.9 on and with the native server. Older
// servers send none: then a notification of a persistent watch counts for one change that it can report, whichever,
// and notifications in the wrong order are not found. On these servers a one-shot watch ends a persistent one on its path.
//
// # What etcd promises
//
// The events of one watch come in the order of their revisions, from the first revision that the
// watch was created for, each key at most once per revision, and none is left out: an event at a
// revision, and a progress notification of the stream, say that all earlier ones have been sent. The
// events of one revision may come in several responses (fragments). A watch that is cancelled ends
// with the confirmation of that. Replies to reads and writes, which have connections or streams of
// their own, promise nothing about events. Servers without the fix of etcd issue 15220 can send a
// progress notification before events of earlier revisions: they break the promise, and it is reported.
//
// A watch from now on is confirmed with a revision that the server may read after it has begun the
// watch. It may hence report changes up to that revision, but no change that is older than the
// confirmation of the watch before on the same stream. Which of the changes in between it must report is
// not known: none of them is owed. They may not come twice, or in another order.
//
// A connection that breaks ends the watches of its stream, and so does a session that leaves a stream. The
// client creates them again on a new stream, one-shot watches from the revision of their read, which the
// server then sends from: these are new watches. They owe what is written from that revision on, and of what was
// written before they were created the latest change of each key. What is left over from a stream that has ended
// is not judged.
//
// # What is owed
//
// Which notifications must come follows from writes that the run has seen answered, and from replies
// that show that a node was created or deleted in the meantime; from what the close of a session deletes; and, where no
// session is known to have made a change, from the notifications of it to other sessions. A
// notification is missing when the session has had a later reply on the same connection, or a later
// event of the same watch: never because some time has passed. Every reply with a position counts, also that to a
// heartbeat or to the request to close the session. Nothing is decided from a lack of
// knowledge: writes of other processes make no notification wrong.
//
// What a one-shot watch is owed when a connection breaks may come when the session sets the watch again on the next one: the
// server compares. If a session does not set it again, or a connection ends for good, or the audit of its session, or a
// watch of a stream, while a notification is owed and no such reply has come, it is not known whether the notification was
// lost or on its way. That is [Undecided]. So is what was owed when the session armed another watch on the path, and has not
// come by such a reply: what the server makes of them depends on its version. So is the deletion of a node whose session has
// ended, if nothing shows when, and so is what has changed while a persistent watch was armed on no connection.
//
// What is owed ends in one of these ways: it comes, is reported, or is shown not to be due, by the reply that closes
// the session or removes the watch.
package delivery
