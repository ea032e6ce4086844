// Package journal keeps the transactions of a tree on disk, so that a state
// that was shown to anybody outlives the process and the machine's power.
//
// Transactions are appended as they are applied. One goroutine writes what has
// gathered as one batch and has the disk confirm it, while the next batch
// gathers; so the more there is to do, the more one confirmation serves. Who
// shows a state awaits its zxid first.
//
// A data directory holds
//
//	lock             held by the server that runs on it
//	log-ZXID         batches of transactions from the one with the zxid on
//	snapshot-ZXID    the tree as it was after the one with the zxid
//
// with zxids of sixteen hexadecimal digits. When the log has grown by a certain
// length, and by that of the last snapshot, another snapshot is due; two are
// kept, with the log since the older one.
//
// All files are batches, each with its length, its checksum and its place in the
// order. A batch that was cut off at the end of the log was never confirmed:
// [Open] takes it away. A broken one with others behind it was, and [Open]
// refuses to guess what it said. That is why the log is not etcd's
// (storage/wal), which reads a length that was zeroed in the middle as the end,
// and cuts off all behind a broken record that has an empty sector.
package journal
