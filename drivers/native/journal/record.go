package journal

import (
	"hash/crc32"

	"github.com/stampede-bench/stampede/drivers/native/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// The kinds of records, which their first byte says.
const (
	// applied is followed by the transaction and the digest of its result.
	applied byte = iota + 1
	// refused is followed by the error: the transaction changed nothing but the
	// zxid.
	refused
)

func appendRecord(b []byte, x *tree.Txn, r *tree.Result, scratch *[]byte) []byte {
	if err := refusal(r); err != wire.OK {
		return wire.AppendInt(append(b, refused), int32(err))
	}
	b = appendTxn(append(b, applied), x)
	return wire.AppendInt(b, resultDigest(r, scratch))
}

// A record is a transaction that was read, with the digest of its result. One
// that was refused is read as a transaction that is refused again.
type record struct {
	kind   byte
	txn    tree.Txn
	digest int32
}

// record returns false where there is something else than a record.
func (r *reader) record() (x record, ok bool) {
	switch x.kind = r.Byte(); x.kind {
	case applied:
		x.txn, x.digest = r.txn(), r.Int()
	case refused:
		x.txn.Op = tree.Op{Kind: tree.Refuse, Err: wire.Err(r.Int())}
	default:
		return x, false
	}
	return x, r.Err() == nil
}

// refusal is the first error of a transaction that changed nothing, or OK.
func refusal(r *tree.Result) wire.Err {
	for i := range r.Ops {
		if r.Ops[i].Err != wire.OK {
			return r.Ops[i].Err
		}
	}
	return r.Err
}

// resultDigest is a checksum of everything that a result tells a client.
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

// recordLength is the length of the record if the transaction is applied, in
// bytes.
func recordLength(x *tree.Txn) int {
	const ends, opening, digest = 1, 4 + wire.PasswordSize, 4
	n := ends + 8 + 8 + 4 + opLength(&x.Op) + 4 + opening + digest
	for i := range x.Who {
		n += leastIdentity + len(x.Who[i].Scheme) + len(x.Who[i].ID)
	}
	for i := range x.Ops {
		n += opLength(&x.Ops[i])
	}
	return n
}

func opLength(op *tree.Op) int {
	n := leastOp + len(op.Path) + len(op.Data)
	for i := range op.ACL {
		n += leastACL + len(op.ACL[i].Scheme) + len(op.ACL[i].ID)
	}
	return n
}
