package wal

import (
	"encoding/binary"

	"github.com/stampede-bench/stampede/drivers/server/logfile"
	"github.com/stampede-bench/stampede/drivers/server/tree"
)

// A batch holds transactions that are written together. Its body is the digest of the tree after
// the last of them, followed by their records.
type batch struct {
	bytes []byte // including space for the header
	last  int64  // zxid of the last transaction
	load  load
}

const digestLength = 8

// newBatch returns an empty batch that uses the buffer.
func newBatch(buf []byte, zxid int64) batch {
	return batch{bytes: append(logfile.BeginBatch(buf, zxid), make([]byte, digestLength)...)}
}

func (b *batch) add(x *tree.Txn, r *tree.Result, digest uint64, scratch *[]byte) {
	b.last = r.Zxid
	b.bytes = appendRecord(b.bytes, x, r, scratch)
	binary.BigEndian.PutUint64(b.bytes[logfile.HeaderLength:], digest)
}
