// Package journal keeps the transactions of a tree on disk, so that a state
// that a client was shown survives the end of the process and a loss of power.
//
// [Journal.Apply] applies a transaction and gathers its record. One goroutine
// writes what has gathered as one batch and has the disk confirm it, while the
// next batch gathers; so one confirmation serves more transactions the more there
// are. A caller awaits the zxid of a state before it shows that state.
//
// # Promises
//
//   - When [Journal.Await] returns nil for a zxid, the transactions up to it are
//     on disk, if the disk keeps what it confirmed.
//   - Where the disk fails to confirm a batch, nothing is confirmed any more and
//     [Journal.Done] is closed.
//   - When [Open] returns, everything that it recovered is on disk again, also what
//     the disk had failed to confirm: see below.
//   - [Open] recovers each transaction that was confirmed, with the result that it
//     had, or fails with the name of the file that is missing or damaged. It may
//     recover transactions that were never confirmed, in their order.
//
// # Files
//
// A data directory holds
//
//	lock             held by the server that runs on it
//	current          the name of the newest log
//	log-ZXID         batches of transactions from the one with the zxid on
//	snapshot-ZXID    the tree as it was after the one with the zxid
//
// with zxids of sixteen hexadecimal digits. A file that is being written has
// another name, is synced, gets its name, and then its directory is synced. When
// the log has grown by a certain length, and by that of the last snapshot, another
// snapshot is due; two are kept, with the log since the older one.
//
// Logs are continuous: a gap is noticed by the zxids in their names and batches.
// That the newest log is missing is noticed by current, which names a log before
// it has its first batch.
//
// # Format
//
// A log or a snapshot begins with a line such as "stampede log 2 rules 1", the
// file's mark (8 bytes, random) and a CRC-32C of both. The line has the version of
// the format and the number of the rules by which its transactions were applied
// ([tree.Rules]). Files of later versions or rules are refused. Version 1, which
// had neither rules, marks nor results, is read once: Open writes what it recovers
// as a snapshot and begins a log of version 2.
//
// Then follow batches. The header of a batch is the length of its body (4 bytes), a
// CRC-32C of what follows it (4), its place (8) and the mark (8). The place is in a
// log the zxid of the first transaction, in a snapshot the number of the batch.
// Numbers are big-endian.
//
// The body of a log's batch is the digest of the tree after it (8 bytes) and the
// records of its transactions. A record is a 1, the transaction, and a checksum
// of its result; or a 2 and the error of a transaction that was refused: it took a
// zxid, as it does in ZooKeeper, and nothing else of it is kept. Open applies the
// transactions, and fails if a result or a digest is not what it was.
//
// # The end of the log
//
// A batch is written when the disk has confirmed the one before. So one at the end
// of the newest log that is not whole was never confirmed, and Open leaves it out.
// One that has a whole batch behind it was confirmed, and Open refuses to guess
// what it said. Data of clients cannot look like such a batch, as clients do not
// know the mark. That is why the log is not etcd's (storage/wal), which reads a
// length that was zeroed in the middle as the end, and cuts off everything behind
// a broken record that has an empty sector.
//
// That a batch can be read does not show that it is on disk: where the system failed
// to write it, it may keep it in memory, take it for written, and confirm it the
// next time without writing it (Rebello et al., "Can Applications Recover from
// fsync Failures?", USENIX ATC 2020). Only the last batch can be such a one. So
// Open writes the newest log again as it reads it, has the disk confirm the copy,
// and then puts it in the place of the log.
//
// # Limits
//
// A log that has reached 64 MiB, and a batch that has reached 4 MiB, are followed
// by another one. A transaction whose record is longer than 1 GiB is refused: so the
// length of a batch always fits its header.
//
// [Journal.Room] bounds what is applied and not on disk to 32 MiB and 10,000
// transactions, and one transaction more. A client with transactions that are not
// on disk has half of that. Sessions that expire and nodes that outlive their
// use are not held back.
package journal
