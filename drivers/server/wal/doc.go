// Package wal keeps the transactions of a tree on disk, so that every state
// that a client has seen survives the end of the process and a loss of power.
//
// [Journal.Apply] applies a transaction and adds its record to a batch. One
// goroutine writes the batch and syncs it while the next batch fills, so the
// number of transactions per sync grows with the load (group commit). A caller
// awaits the zxid of a state before it shows that state to a client.
//
// # Guarantees
//
//   - When [Journal.Await] returns nil for a zxid, the transactions up to it are
//     on disk, provided that the disk keeps what it has confirmed.
//   - If the sync of a batch fails, the journal confirms no more transactions and
//     closes [Journal.Done].
//   - When [Open] returns, everything that it recovered is on disk, including
//     data whose sync had failed: see below.
//   - [Open] recovers each confirmed transaction with its original result, or
//     fails with the name of the missing or damaged file. It may also recover
//     transactions that were never confirmed, in their order.
//
// # Files
//
// A data directory holds
//
//	lock             held by the server that uses the directory
//	current          the name of the newest log
//	log-ZXID         batches of transactions, starting with the zxid
//	snapshot-ZXID    the tree after the transaction with the zxid
//
// with the names, the heading, the marks and the checksums of package logfile. A new file is written
// under a temporary name, synced and renamed; then its directory is synced. A snapshot is due when the
// log has grown by a minimum length and by the length of the last snapshot. The journal keeps two
// snapshots, and the log since the older one.
//
// # Format
//
// Package logfile says what the files consist of, and what becomes of a damaged one. The rules in a
// heading are [tree.Rules].
//
// The place of a log's batch is the zxid of its first transaction. The body of a batch is the digest of
// the tree after the batch (8 bytes) and the records of its transactions. A record is a 1, the
// transaction, and a checksum of its result; or, for a refused transaction, a 2 and the error: as in
// ZooKeeper, a refused transaction takes a zxid, and nothing else of it is kept. Open applies the
// transactions, and fails if a result or a digest differs from the recorded one.
//
// A batch is written only after the previous one was confirmed. After a failed sync, data can be readable
// and not be on disk. So Open copies the newest log as it reads it, syncs the copy, and then replaces the
// log with it.
//
// # Limits
//
// A new log begins when the current one has reached 64 MiB, and a new batch when
// the current one has reached 4 MiB. A transaction whose record is longer than
// 1 GiB is refused, so the length of a batch always fits its header.
//
// [Journal.Room] limits the transactions that are applied but not yet on disk to
// 32 MiB and 10,000, plus one transaction. A client with transactions that are not
// on disk may use half of that. The limits do not delay the expiry of sessions and
// of nodes.
package wal
