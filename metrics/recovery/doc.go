// Package recovery judges from its traffic whether a program recovers from a fault. It reports whether sessions are
// resumed or replaced, which ephemeral nodes and watches come back and how soon, what is registered or written twice, which
// changes the program misses, whether it gives up, and whether its clients retry in step.
//
// An [Analysis] receives the traffic, as package observe does, and the faults. It orders both by their times, not by the
// order of the calls. Messages wait in a queue, so a fault may be reported late, as long as the queue still holds the
// messages that followed it.
//
// When a fault begins, the analysis notes which ephemeral nodes each session has created and which watches it has
// armed. A node is back when the session, or the one that replaces it, creates a node with the same name, or with a name
// that differs only in numbers and identifiers ([pathname.Fold]). A watch is back when a watch of the same kind is armed on
// such a path. Watches on sequential nodes are an exception: they belong to a wait in a line, and a new session starts
// waiting from the beginning. Such a watch need not come back when the session is replaced.
//
// Each watch that the service keeps is judged by itself. ZooKeeper keeps one of a kind for a session and a path. etcd keeps
// as many as the client has asked for, so two on a key must both come back.
//
// A fault may keep from the client what the service has sent. Then [Analysis.Received] gets what the client has received,
// and only that counts: a client has a watch when it has received the answer that arms it, and knows of a change when it
// has received the notification or an answer that shows it. So a watch that ZooKeeper has set, and whose answer is held back or
// lost, is neither one to lose nor one that is back. A watch that ended by a notification which never came is lost.
//
// An answer shows a change of data if it has the data ([drivers.Sight]), as of the change or later. One that has only
// the version, of exists or of etcd's keys only, shows it to a client that armed its watch by exists. It shows to all
// that a node was created or removed. A number of keys, or a part of a range, shows neither.
//
// Sessions of etcd have no number. A client of etcd is a process, or, if the process is unknown, a connection together with
// those that use its leases. Its ephemeral nodes are the keys that are bound to a lease.
//
// The traffic does not show which session replaces another one. Candidates are sessions that the same process opened
// after the fault, sessions from the same host whose process is unknown, and sessions of a process of the same program that came when the first
// one had ended. Each candidate replaces at most one session; those that have most in
// common are paired first.
//
// A connection that ends later than one session time-out after the fault, or in the last second of the observation, is
// taken to end for another reason, for example because the program ends.
//
// The traffic does not show the intention behind a write either. A write that is made again after its reply was
// lost, before the client has read the node, counts as repeated, although the program may have meant to make a second
// one.
package recovery
