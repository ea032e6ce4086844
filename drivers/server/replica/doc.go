// Package replica replicates the state of a server over several members with raft.
//
// A [Member] is pure: it has no goroutines, does no I/O and has no clock. Its caller reports what happens
// (a tick, a message, a client's request, an append that is on disk) and carries out what
// [Member.Take] returns. So a test can simulate whole ensembles; see TestSimulation.
//
// # Guarantees
//
// They are those of ZooKeeper.
//
//   - All members apply the same transactions in one order. A client's write is answered when a
//     majority has it on disk and the client's member has applied it. It is then never lost.
//   - A write is applied once, even if its proposal is lost or arrives twice. If the client's connection
//     ends before the answer, the write may be applied or not.
//   - A client's requests are answered in their order ([Line]). A read is answered from what the client's
//     member has applied, after the client's own writes. It can be older than the last write of
//     another client. After a sync it is not older than what was committed when the sync began.
//   - A member shows nothing that is not committed. A leader that loses its majority, or a member
//     that knows of no leader for two election time-outs, ends its clients' connections and serves no
//     clients until it has caught up with a leader.
//   - A zxid is the raft term in the upper 32 bits and a counter from 1 in the lower. It follows from the
//     entry's term and the entries before it, so it is never used twice and increases over elections.
//     When the counter runs out, the leader hands over to another member, which begins a new term.
//   - A session belongs to the member that its client is connected to. A client that reconnects,
//     to the same member or to another, moves its session by an entry of the log, which gives it another
//     generation: the index of that entry. Requests of earlier generations are then refused with
//     SessionMoved.
//   - Sessions expire by a decision of the leader, to which the members report at each tick whom they heard.
//     An expiry names the session's generation and the leader's term, and has no effect if either has
//     changed: a new leader gives every session its whole time-out again.
//
// # Entries
//
// Each entry is one transaction with all inputs of its outcome, such as the time and the client's
// identities, in the encoding of package codec. It also names the member that proposed it (the
// origin), the start of that member (a random number, the boot) and a sequence number. A member proposes
// everything again that is not applied when the leader changes, when a later proposal came first, or
// when nothing was applied for a while. All members apply the proposals of one start in the order of their numbers and ignore all
// others, so each is applied once.
//
// A restarted member first registers its boot with an entry that names the boot that it replaces. So late
// proposals of an earlier start have no effect once the new one is registered.
//
// A time is the latest of the transaction's own and that of the transactions before it.
//
// # Digests
//
// Every member proposes the digest of its state ([State.Digest]) after every 4096 entries. A member
// whose state had another digest after that entry than those of a majority stops with a [Divergence]. If
// no majority agrees until the next digest, the members stop that differ from the leader.
//
// # Failures
//
// A minority of members may crash, lose what they had not confirmed as written, be frozen or be cut off.
// Messages may be lost, late, doubled or out of order. Clocks may be wrong and run at
// different speeds: that changes how long sessions live and how soon elections begin, and nothing else.
//
// A member whose directory was removed, one at a time, loses nothing either. Until it has caught up its vote
// counts only if all members agree, and it makes a leader step down that relies on entries which the
// member has lost, so that the next leader assumes nothing of it. An ensemble whose members have all
// been started for the first time, and stopped before they served, needs all of them to continue.
package replica
