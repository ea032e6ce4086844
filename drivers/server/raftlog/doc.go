// Package raftlog keeps the log, the state and the snapshots of one member of a raft group on disk.
//
// [Log] implements [raft.Storage]. [Log.Append] returns when what it appended is on disk, after one
// sync. The snapshots' contents are sections: byte strings that the log checks but does not read.
//
// The members of the group are fixed. [Open] records them in a new directory and refuses a
// directory of another member or of another group.
//
// # The order of calls
//
// For each [raft.Ready]: if it has a snapshot, [Log.Install] with the received snapshot and the
// HardState; then [Log.Append] with the HardState, the entries and MustSync; then the messages may be
// sent and the committed entries applied. The methods of [raft.Storage], SaveSnapshot, OpenSnapshot and
// Receive may be called from other goroutines at the same time.
//
// # Guarantees
//
//   - When Append or Install returns nil, its result is on disk, provided that the disk keeps what it
//     has confirmed. Only a change of nothing but the commit index is kept in memory and written with
//     the next batch: raft can do without it.
//   - If a write or sync of the log fails, every later call that would write fails, too.
//   - When Open returns, everything that it recovered is on disk, including data whose sync had failed.
//   - Open recovers everything that was confirmed, or fails with the name of the missing or damaged
//     file. It may also recover what was appended last and not confirmed. One case cannot be told
//     apart: a damaged last batch looks like one whose write was interrupted if it has a block of zeros,
//     or if the damage is in its length.
//
// # Files
//
// A directory holds
//
//	lock              held by the process that uses the directory
//	current           the name of the newest log
//	log-BATCH         batches of records, starting with the batch of that number
//	snapshot-INDEX    the state after the entry with the index
//	received-INDEX    a snapshot of another member that is not installed yet
//
// with the headings, batches and checksums of package logfile, in which a place in a log is the number of
// a batch. The kinds in the first lines are raft-log and raft-snapshot.
//
// A batch of a log consists of records: the first byte is the kind, and numbers are big-endian. The first
// batch of a log has the member, the base (index and term of the entry before the log's first one) and the
// HardState. Entries replace those with the same or a higher index, as raft demands after a conflict. So
// the logs are also read without the older ones.
//
// A snapshot's first batch has the index, the term and the voters. Each further batch is a 1 and a
// section. The last one is a 2 and the number of the sections.
//
// Install begins a log whose base says that it was installed. The sync of that log's first batch is the
// moment from which the received snapshot replaces the older logs; Open completes or undoes what was left
// before or behind it.
//
// # Limits
//
// A new log begins when the current one has reached 64 MiB. A snapshot is due when the logs have grown by
// 64 MiB and by the length of the last snapshot. The last two snapshots are kept, and the logs since the
// older one. The entries that are not compacted are in memory. An Append of more than 64 MiB is several
// batches, each with a sync.
package raftlog
