package wal

import (
	"hash/crc32"

	"github.com/stampede-bench/stampede/drivers/server/codec"
	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// The kinds of records, stored in their first byte.
const (
	// applied is followed by the transaction and the digest of its result.
	applied byte = iota + 1
	// refused is followed by the error. The transaction changed only the zxid.
	refused
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func appendRecord(b []byte, x *tree.Txn, r *tree.Result, scratch *[]byte) []byte {
	if err := refusal(r); err != wire.OK {
		return wire.AppendInt(append(b, refused), int32(err))
	}
	b = codec.AppendTxn(append(b, applied), x)
	return wire.AppendInt(b, resultDigest(r, scratch))
}

// A record is a transaction read from a log, with the digest of its result. A refused transaction
// is read as a tree.Refuse.
type record struct {
	kind   byte
	txn    tree.Txn
	digest int32
}

// readRecord reads the next record. It returns false if there is no valid one.
func readRecord(r *codec.Decoder) (x record, ok bool) {
	switch x.kind = r.Byte(); x.kind {
	case applied:
		x.txn, x.digest = r.Txn(), r.Int()
	case refused:
		x.txn.Op = tree.Op{Kind: tree.Refuse, Err: wire.Err(r.Int())}
	default:
		return x, false
	}
	return x, r.Err() == nil
}

// refusal returns the first error of a transaction that changed nothing, or OK.
func refusal(r *tree.Result) wire.Err {
	for i := range r.Ops {
		if r.Ops[i].Err != wire.OK {
			return r.Ops[i].Err
		}
	}
	return r.Err
}

// resultDigest returns a checksum of everything in a result that is sent to a client.
func resultDigest(r *tree.Result, scratch *[]byte) int32 {
	b := appendOpResult((*scratch)[:0], &r.OpResult)
	for i := range r.Ops {
		b = appendOpResult(b, &r.Ops[i])
	}
	*scratch = b
	return int32(crc32.Checksum(b, castagnoli))
}

func appendOpResult(b []byte, r *tree.OpResult) []byte {
	return r.Stat.Append(wire.AppendString(wire.AppendInt(b, int32(r.Err)), r.Path))
}

// recordLength returns the length of the transaction's record in bytes if it is applied.
func recordLength(x *tree.Txn) int { return 1 + codec.TxnLength(x) + 4 }
