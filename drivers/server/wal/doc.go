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
// where zxids have sixteen hexadecimal digits. A new file is written under a
// temporary name, synced and renamed; then its directory is synced. A snapshot is
// due when the log has grown by a minimum length and by the length of the last
// snapshot. The journal keeps two snapshots, and the log since the older one.
//
// Logs are continuous: the zxids in their names and batches reveal a gap. The
// file current reveals that the newest log is missing: it names a log before the
// log has its first batch.
//
// # Format
//
// A log or a snapshot begins with a line such as "stampede log 2 rules 1", the
// file's mark (8 random bytes) and a CRC-32C of both. The line contains the
// version of the format and the number of the rules by which the transactions were
// applied ([tree.Rules]). Files of later versions or rules are refused. Version 1
// had no rules, marks or results. Open reads such a directory once, writes the
// recovered tree as a snapshot and begins a log of version 2.
//
// Batches follow. The header of a batch is the length of its body (4 bytes), a
// CRC-32C of what follows the checksum (4), its place (8) and the mark (8). In a
// log the place is the zxid of the first transaction, in a snapshot the number of
// the batch. Numbers are big-endian.
//
// The body of a log's batch is the digest of the tree after the batch (8 bytes) and
// the records of its transactions. A record is a 1, the transaction, and a checksum
// of its result; or, for a refused transaction, a 2 and the error: as in ZooKeeper,
// a refused transaction takes a zxid, and nothing else of it is kept. Open applies
// the transactions, and fails if a result or a digest differs from the recorded one.
//
// # The end of the log
//
// A batch is written only after the previous one was confirmed. An incomplete batch
// at the end of the newest log was therefore never confirmed, and Open drops it. A
// damaged batch with a whole batch behind it was confirmed, and Open fails instead
// of guessing its contents. Client data cannot look like a batch, because clients
// do not know the mark. For this reason the log does not use etcd's format
// (storage/wal), whose reader takes a zeroed length in the middle for the end of
// the log, and cuts off everything behind a broken record that has an empty sector.
//
// A readable batch is not necessarily on disk. After a failed write, the operating
// system may keep the data in memory, mark it as written, and confirm the next sync
// without writing it (Rebello et al., "Can Applications Recover from fsync
// Failures?", USENIX ATC 2020). Only the last batch can be affected. So Open copies
// the newest log as it reads it, syncs the copy, and then replaces the log with it.
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
