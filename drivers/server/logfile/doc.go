// Package logfile reads and writes the files of a log: batches with checksums behind a heading, in a
// directory that one process uses. Package wal keeps transactions in such files, package raftlog
// entries of raft.
//
// # Format
//
// A file begins with a line such as "stampede log 2 rules 1", the file's mark (8 random bytes) and a
// CRC-32C of both. The line contains the file's kind, the version of its format and the number of the
// rules by which transactions are applied. Files of later versions or rules are refused.
//
// Batches follow. The header of a batch is the length of its body (4 bytes), a CRC-32C of what follows
// the checksum (4), its place (8) and the mark (8). Places number the batches of a snapshot, and of all
// logs of a directory together, in steps that the log's owner knows. Numbers are big-endian.
//
// The name of a log or snapshot ends with its place in sixteen hexadecimal digits: that of the first
// batch of a log. The file current names the newest log; it is written before the log's first batch. So
// a missing log is noticed, whichever it is.
//
// # The end of the log
//
// The owner writes a batch only after the previous one was confirmed. An incomplete batch at the end of
// the newest log was therefore never confirmed, and [Directory.Replay] drops it. A damaged batch with a
// whole batch behind it was confirmed, and Replay fails instead of guessing its contents. Client data
// cannot look like a batch, because clients do not know the mark. For this reason the format is not
// etcd's (storage/wal), whose reader takes a zeroed length in the middle for the end of the log, and cuts
// off everything behind a broken record that has an empty sector.
//
// A readable batch is not necessarily on disk. After a failed write, the operating system may keep the
// data in memory, mark it as written, and confirm the next sync without writing it (Rebello et al., "Can
// Applications Recover from fsync Failures?", USENIX ATC 2020). Only the last batch can be affected. So
// Replay copies the newest log as it reads it, and the owner replaces the log with the copy.
package logfile
