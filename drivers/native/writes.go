package native

import (
	"bytes"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/drivers/native/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// apply carries out a transaction and tells those who watch for its events.
func (s *Server) apply(x tree.Txn) tree.Result {
	r, events := s.tree.Apply(x)
	for _, e := range events {
		s.stats.fired(e.Type, s.watches.Fire(e, r.Zxid))
	}
	return r
}

func (c *conn) txn(op tree.Op, now time.Time) tree.Txn {
	return tree.Txn{Session: c.session.id, Time: now.UnixMilli(), Op: op}
}

func (c *conn) write(h wire.RequestHeader, d *wire.Decoder, now time.Time) {
	c.server.stats.writes++
	r := c.server.apply(c.txn(decodeOp(h.Op, d), now))
	start := c.beginReply(h.Xid, r.Err)
	if r.Err == wire.OK {
		c.packets = appendResult(c.packets, h.Op, &r.OpResult)
	}
	c.end(start)
}

// appendResult appends what an operation that succeeded answers.
func appendResult(b []byte, op int32, r *tree.OpResult) []byte {
	switch op {
	case wire.OpCreate:
		return wire.AppendString(b, r.Path)
	case wire.OpCreate2:
		return wire.PathStat{Path: r.Path, Stat: r.Stat}.Append(b)
	case wire.OpSetData, wire.OpSetACL:
		return r.Stat.Append(b)
	}
	return b
}

// decodeOp reads one write. What cannot be done is a Refuse.
func decodeOp(op int32, d *wire.Decoder) tree.Op {
	x := tree.Op{Kind: tree.Refuse, Err: wire.ErrUnimplemented}
	switch op {
	case wire.OpCreate, wire.OpCreate2:
		x = decodeCreate(d)
	case wire.OpSetData:
		var r wire.SetDataRequest
		r.Decode(d)
		x = tree.Op{Kind: tree.SetData, Path: r.Path, Data: bytes.Clone(r.Data), Version: r.Version}
	case wire.OpSetACL:
		var r wire.SetACLRequest
		r.Decode(d)
		x = tree.Op{Kind: tree.SetACL, Path: r.Path, Version: r.Version}
		refuse(&x, checkACL(r.ACL))
	case wire.OpDelete, wire.OpCheck:
		var r wire.PathVersion
		r.Decode(d)
		x = tree.Op{Kind: tree.Delete, Path: r.Path, Version: r.Version}
		if op == wire.OpCheck {
			x.Kind = tree.Check
		}
	}
	if d.Err() != nil {
		refuse(&x, wire.ErrMarshalling)
	}
	return x
}

func decodeCreate(d *wire.Decoder) tree.Op {
	var room [1]wire.ACL
	r := wire.CreateRequest{ACL: room[:0]}
	r.Decode(d)
	x := tree.Op{Kind: tree.Create, Path: r.Path, Data: bytes.Clone(r.Data)}
	if r.Flags&wire.FlagEphemeral != 0 {
		x.Mode |= tree.Ephemeral
	}
	if r.Flags&wire.FlagSequential != 0 {
		x.Mode |= tree.Sequential
	}
	refuse(&x, checkACL(r.ACL))
	refuse(&x, checkFlags(r.Flags))
	return x
}

// refuse makes op one that fails, if err is an error.
func refuse(op *tree.Op, err wire.Err) {
	if err != wire.OK {
		*op = tree.Op{Kind: tree.Refuse, Err: err}
	}
}

// checkACL turns down what would not be protected as its writer thinks.
func checkACL(acl []wire.ACL) wire.Err {
	if len(acl) == 0 {
		return wire.ErrInvalidACL
	}
	if slices.ContainsFunc(acl, func(a wire.ACL) bool { return a != wire.OpenACL() }) {
		return wire.ErrUnimplemented
	}
	return wire.OK
}

// lastFlags are those of the last kind of node that ZooKeeper knows; the kinds
// above FlagEphemeral|FlagSequential are containers and nodes that expire.
const lastFlags = 6

func checkFlags(flags int32) wire.Err {
	switch {
	case flags < 0 || flags > lastFlags:
		return wire.ErrBadArguments
	case flags > wire.FlagEphemeral|wire.FlagSequential:
		return wire.ErrUnimplemented
	}
	return wire.OK
}

func (c *conn) writeMulti(h wire.RequestHeader, d *wire.Decoder, now time.Time) {
	c.server.stats.writes++
	codes, ops, err := decodeMulti(d)
	x := c.txn(tree.Op{Kind: tree.Multi}, now)
	x.Ops = ops
	refuse(&x.Op, err)
	r := c.server.apply(x)
	start := c.beginReply(h.Xid, r.Err)
	if r.Err == wire.OK {
		c.packets = appendResults(c.packets, codes, r.Ops)
	}
	c.end(start)
}

// decodeMulti reads the operations of a multi and their opcodes.
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
		switch h.Type {
		case wire.OpCreate, wire.OpDelete, wire.OpSetData, wire.OpCheck:
			codes, ops = append(codes, h.Type), append(ops, decodeOp(h.Type, d))
		case wire.OpCreate2: // which ZooKeeper answers as if it were a create
			codes, ops = append(codes, wire.OpCreate), append(ops, decodeOp(h.Type, d))
		case wire.OpCreateContainer, wire.OpCreateTTL:
			return nil, nil, wire.ErrUnimplemented
		default:
			return nil, nil, wire.ErrMarshalling
		}
	}
}

// appendResults appends what a multi answers: all results, or, if one
// operation failed, an error code for each.
func appendResults(b []byte, codes []int32, results []tree.OpResult) []byte {
	failed := slices.ContainsFunc(results, func(r tree.OpResult) bool { return r.Err != wire.OK })
	for i := range results {
		r := &results[i]
		if failed {
			b = wire.MultiHeader{Type: wire.MultiError, Err: r.Err}.Append(b)
			b = wire.AppendInt(b, int32(r.Err))
			continue
		}
		b = wire.MultiHeader{Type: codes[i]}.Append(b)
		b = appendResult(b, codes[i], r)
	}
	return wire.MultiEnd().Append(b)
}
