package server

import (
	"slices"
	"time"

	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

func (c *conn) writeMulti(h wire.RequestHeader, d *wire.Decoder, now time.Time) {
	c.server.stats.Writes++
	codes, ops, err := decodeMulti(d)
	x := c.txn(tree.Op{Kind: tree.Multi}, now)
	x.Ops = ops
	if err != wire.OK {
		x.Op = refused(err)
	}
	c.commit(x, asked{xid: h.Xid, op: wire.OpMulti, codes: codes})
}

// decodeMulti reads the operations of a multi and the opcodes of their results.
func decodeMulti(d *wire.Decoder) (codes []int32, ops []tree.Op, err wire.Err) {
	for {
		var h wire.MultiHeader
		h.Decode(d)
		switch {
		case d.Err() != nil:
			return nil, nil, wire.ErrMarshalling
		case h.Done:
			return codes, ops, wire.OK
		}
		op, ok := decodeMultiOp(h.Type, d)
		if !ok {
			return nil, nil, wire.ErrMarshalling
		}
		codes, ops = append(codes, resultCode(h.Type, &op)), append(ops, op)
	}
}

// decodeMultiOp reads one operation. The flags also decide what is created: they can request a
// container with any create opcode, and a node with a TTL with OpCreateTTL.
func decodeMultiOp(code int32, d *wire.Decoder) (op tree.Op, ok bool) {
	switch code {
	case wire.OpDelete, wire.OpSetData, wire.OpCheck:
		return decodeOp(code, d), true
	case wire.OpCreate, wire.OpCreate2, wire.OpCreateContainer:
		r := decodeCreate(code, d)
		if r.Flags < 0 || r.Flags > wire.FlagContainer {
			return op, false
		}
		if r.Flags == wire.FlagContainer {
			code = wire.OpCreateContainer
		}
		return createOp(code, &r), true
	case wire.OpCreateTTL:
		r := decodeCreate(code, d)
		switch r.Flags {
		case wire.FlagTTL, wire.FlagTTLSequential:
		case wire.FlagContainer:
			code = wire.OpCreateContainer
		default:
			code = wire.OpCreate
		}
		return createOp(code, &r), true
	}
	return op, false
}

// resultCode returns the opcode that a multi's reply uses for an operation.
func resultCode(code int32, op *tree.Op) int32 {
	if op.Kind != tree.Create {
		return code
	}
	if code == wire.OpCreate2 || op.Mode&(tree.Container|tree.Expiring) != 0 {
		return wire.OpCreate2
	}
	return wire.OpCreate
}

// appendResults appends the reply of a multi: all results or, if one operation failed, an error
// code for each operation.
func appendResults(b []byte, codes []int32, results []tree.OpResult) []byte {
	failed := slices.ContainsFunc(results, func(r tree.OpResult) bool { return r.Err != wire.OK })
	for i := range results {
		r := &results[i]
		if failed {
			b = appendError(b, r.Err)
			continue
		}
		b = wire.MultiHeader{Type: codes[i]}.Append(b)
		b = appendResult(b, codes[i], r)
	}
	return wire.MultiEnd().Append(b)
}
