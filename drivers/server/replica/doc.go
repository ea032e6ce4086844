// Package replica replicates the state of a server over several members with raft.
//
// A [Member] is pure: it has no goroutines, does no I/O and has no clock. Its caller reports what happens
// (a tick, a message, a client's request, an append that is on disk) and what time it is, and carries out
// what [Member.Take] returns. So a test can simulate whole ensembles; see TestSimulation.
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
//   - A member shows nothing that is not committed. It serves clients only while a confirmation holds, see
//     below. Without one for [MaxAge] it ends its clients' connections, says why, and serves no clients
//     until it has another one.
//   - A zxid is the raft term in the upper 32 bits and a counter from 1 in the lower. It follows from the
//     entry's term and the entries before it, so it is never used twice and increases over elections.
//     When the counter runs out, the leader hands over to another member, which begins a new term.
//   - A session belongs to the member that its client is connected to. A client that reconnects,
//     to the same member or to another, moves its session by an entry of the log, which gives it another
//     generation: the index of that entry. Requests of earlier generations are then refused with
//     SessionMoved.
//   - Sessions expire by a decision of the leader, to which the members report whom they heard. No member
//     answers a read or a heartbeat of a session that has expired.
//     An expiry names the session's generation and the leader's term, and has no effect if either has
//     changed: a new leader gives every session its whole time-out again.
//
// # Entries
//
// Each entry is one transaction with all inputs of its outcome, such as the time and the client's
// identities, in the encoding of package codec. It also names the member that proposed it (the origin), the
// start of that member (a random number, the boot) and a sequence number. A member proposes everything
// again that is not applied when the leader changes, when a later proposal came first, or when nothing was
// applied for a while. All members apply the proposals of one start in the order of their numbers and
// ignore all others, so each is applied once.
//
// A restarted member first registers its boot with an entry that names the boot that it replaces. So late
// proposals of an earlier start have no effect once the new one is registered.
//
// The leader gives each transaction its time, by its own clock. The time may go back.
//
// # Versions
//
// A version is how entries are encoded and by which rules they are applied. A program reads a range of them, oldest to newest.
// The state says which one is in force: the first one is that of the entry with the identity, and the head of a
// snapshot is written in it. Members write entries in the version in force, whatever newer ones they know, so that
// one member after the other can be updated.
//
// Each message names the newest version that its sender knows (package peers takes it from the greeting). When the leader
// has heard from all members, since it leads and lately, that they know a newer version, it proposes a [Raise],
// which is the first entry in that version and brings it into force. From then on no member can go back
// to an older program: one that does ends before it writes anything, or is refused by the others.
//
// A proposal that is on its way meanwhile is in the version before. The leader takes it, because all members read that, and
// the rules are those in force in any case. A proposal in a newer version is taken only if the leader's log has the raise:
// the proposer can have applied it before the leader. What a member proposes again is encoded anew.
//
// # Confirmations
//
// Hearing a leader proves nothing: it may not hear this member, or not lead any more. So a member asks the
// leader a question every two ticks, one at a time, which names the sessions whose clients it has heard
// of. The leader extends their leases, has a majority confirm that it still leads, and answers with the
// index of its last committed entry. When the member has applied that entry, two things are known, both as of
// the time at which it asked:
//
//   - Its state has all that was committed then. So no read shows a state that is older than MaxAge.
//   - The leases of the sessions last for a whole time-out from then on. The member answers a session's reads
//     and heartbeats until two thirds of that. Later ones wait for another confirmation, and the writes
//     behind them wait, too. So a client that gets an answer holds what its session holds, unless
//     somebody else has deleted it, while clocks differ by less than a factor of 1.5 in speed.
//
// It does not matter why a confirmation does not come: a link that is cut in one direction or both, a leader
// that was deposed, a disk that hangs (entries that are not on the member's own disk are not applied), or a
// process that was stopped. The last is why [Member.Look] comes before every call that can answer a client.
//
// A leader whose disk confirms nothing for an election time-out, while a majority writes, hands over to another
// member, and steps down if that fails. A member whose disk hangs calls no election.
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
// Messages may be lost, late, doubled or out of order, also in one direction only and for ever. Disks may hang.
// Clocks may be wrong: that changes times of nodes, and nothing else. If they run at different speeds, sessions
// live longer or shorter and elections begin sooner or later.
//
// A member whose directory was removed or is a copy of itself, one at a time, loses nothing either. Until it has caught up its
// vote counts only if all members agree, and it asks a leader to hand over that relies on entries which the
// member has lost, so that the next leader assumes nothing of it. Nobody else's clients lose their connections. An ensemble whose members have all
// been started for the first time, and stopped before they served, needs all of them to continue.
package replica
