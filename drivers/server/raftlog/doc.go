// Package raftlog keeps the log, the state and the snapshots of one member of a raft group on disk.
//
// [Log] implements [raft.Storage]. [Log.Append] returns when what it appended is on disk, after one
// sync. The snapshots' contents are sections: byte strings that the log checks but does not read.
// Package codec writes a tree as such sections.
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
package raftlog
