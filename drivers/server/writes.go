package server

import (
	"bytes"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/drivers/server/replica"
	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// apply executes a transaction and notifies the sessions that watch for its events. With a journal,
// packets that show the change are held back until it is on disk.
func (s *Server) apply(x tree.Txn) tree.Result {
	r, events := s.change(x)
	s.fire(events, r.Zxid)
	return r
}

// fire notifies the watchers of the events of the transaction with the zxid.
func (s *Server) fire(events []tree.Event, zxid int64) {
	for _, e := range events {
		f := s.watches.Fire(e, zxid)
		s.stats.Fired(e.Type, f)
		s.work += f[tree.DataWatch] + f[tree.ChildWatch]
	}
}

func (s *Server) change(x tree.Txn) (tree.Result, []tree.Event) {
	if s.journal != nil {
		return s.journal.Apply(x)
	}
	return s.tree.Apply(x)
}

// apply executes a transaction that c requested.
func (c *conn) apply(x tree.Txn) tree.Result {
	r := c.server.apply(x)
	c.wrote = r.Zxid
	return r
}

func (c *conn) txn(op tree.Op, now time.Time) tree.Txn {
	return tree.Txn{Session: c.session.id, Who: c.who, Time: now.UnixMilli(), Op: op}
}

// An pendingWrite is a write without an answer so far.
type pendingWrite struct {
	xid   int32
	op    int32   // the opcode of its result
	codes []int32 // for a multi: the opcodes of its results
}

// commit executes a transaction that c requested, and answers it. In an ensemble that happens when a
// majority of the members has it on disk.
func (c *conn) commit(x tree.Txn, a pendingWrite) {
	if c.line != nil {
		c.line.Write(x, func(r *replica.Applied) { c.committed(r, a) })
		return
	}
	r := c.apply(x)
	c.answerWrite(a, &r)
}

func (c *conn) committed(r *replica.Applied, a pendingWrite) {
	if r == nil { // the result will never be known
		c.drop()
		return
	}
	c.answerWrite(a, &r.Result)
}

func (c *conn) answerWrite(a pendingWrite, r *tree.Result) {
	start := c.beginReply(a.xid, r.Err)
	if r.Err == wire.OK {
		if a.op == wire.OpMulti {
			c.packets = appendResults(c.packets, a.codes, r.Ops)
		} else {
			c.packets = appendResult(c.packets, a.op, &r.OpResult)
		}
	}
	c.end(start)
}

func (c *conn) write(h wire.RequestHeader, d *wire.Decoder, now time.Time) {
	c.server.stats.Writes++
	op := decodeOp(h.Op, d)
	if d.Err() != nil { // a request that cannot be decoded takes no zxid; any other write does
		c.malformed(h)
		return
	}
	if d.NoPath() && (op.Kind == tree.Create || op.Kind == tree.Delete || op.Kind == tree.Check) {
		op = refused(wire.ErrMarshalling) // of the others ZooKeeper says ErrBadArguments, as of any bad path
	}
	c.commit(c.txn(op, now), pendingWrite{xid: h.Xid, op: h.Op})
}

// malformed answers a write or a sync that cannot be decoded.
func (c *conn) malformed(h wire.RequestHeader) {
	c.inOrder(func() { c.answer(h.Xid, wire.ErrMarshalling) })
}

// reconfig answers that reconfiguration is disabled.
func (c *conn) reconfig(h wire.RequestHeader, d *wire.Decoder, now time.Time) {
	c.server.stats.Writes++
	var r wire.ReconfigRequest
	if r.Decode(d); d.Err() != nil {
		c.malformed(h)
		return
	}
	c.commit(c.txn(refused(wire.ErrReconfigDisabled), now), pendingWrite{xid: h.Xid, op: h.Op})
}

// appendResult appends the reply of an operation that succeeded.
func appendResult(b []byte, op int32, r *tree.OpResult) []byte {
	switch op {
	case wire.OpCreate:
		return wire.AppendString(b, r.Path)
	case wire.OpCreate2, wire.OpCreateContainer, wire.OpCreateTTL:
		return wire.PathStat{Path: r.Path, Stat: r.Stat}.Append(b)
	case wire.OpSetData, wire.OpSetACL:
		return r.Stat.Append(b)
	}
	return b
}

// decodeOp decodes one write; the caller checks d for errors. An invalid operation becomes a
// Refuse.
func decodeOp(code int32, d *wire.Decoder) (op tree.Op) {
	switch code {
	case wire.OpCreate, wire.OpCreate2, wire.OpCreateContainer, wire.OpCreateTTL:
		r := decodeCreate(code, d)
		op = createOp(code, &r)
	case wire.OpSetData:
		var r wire.SetDataRequest
		r.Decode(d)
		op = tree.Op{Kind: tree.SetData, Path: r.Path, Data: bytes.Clone(r.Data), Version: r.Version}
	case wire.OpSetACL:
		var r wire.SetACLRequest
		r.Decode(d)
		op = tree.Op{Kind: tree.SetACL, Path: r.Path, ACL: r.ACL, Version: r.Version}
	case wire.OpDelete, wire.OpCheck:
		var r wire.PathVersion
		r.Decode(d)
		op = tree.Op{Kind: tree.Delete, Path: r.Path, Version: r.Version}
		if code == wire.OpCheck {
			op.Kind = tree.Check
		}
	case wire.OpDeleteContainer: // reserved for the server itself
		op = refused(wire.ErrBadArguments)
	}
	return op
}

func refused(err wire.Err) tree.Op { return tree.Op{Kind: tree.Refuse, Err: err} }

// decodeCreate decodes any kind of create request.
func decodeCreate(code int32, d *wire.Decoder) (r wire.CreateTTLRequest) {
	if code == wire.OpCreateTTL {
		r.Decode(d)
	} else {
		r.CreateRequest.Decode(d)
	}
	return r
}

// createOp returns the operation that creates a node of the opcode's kind. The container opcode
// creates a container whatever the flags are, and no other opcode creates one. A TTL requires the
// TTL flags, and the flags require a TTL.
func createOp(code int32, r *wire.CreateTTLRequest) tree.Op {
	op := tree.Op{Kind: tree.Create, Path: r.Path, Data: bytes.Clone(r.Data), ACL: r.ACL}
	mode, ok := createMode(r.Flags)
	expiring := mode&tree.Expiring != 0
	switch {
	case !ok, expiring != (code == wire.OpCreateTTL), expiring && (r.TTL <= 0 || r.TTL > tree.MaxTTL):
		return refused(wire.ErrBadArguments)
	case code == wire.OpCreateContainer:
		mode = mode&tree.Sequential | tree.Container
	default:
		mode &^= tree.Container
	}
	op.Mode, op.TTL = mode, r.TTL
	return op
}

// createMode returns the mode that the flags request.
func createMode(flags int32) (mode tree.Mode, ok bool) {
	modes := [...]tree.Mode{
		wire.FlagEphemeral:                       tree.Ephemeral,
		wire.FlagSequential:                      tree.Sequential,
		wire.FlagEphemeral | wire.FlagSequential: tree.Ephemeral | tree.Sequential,
		wire.FlagContainer:                       tree.Container,
		wire.FlagTTL:                             tree.Expiring,
		wire.FlagTTLSequential:                   tree.Expiring | tree.Sequential,
	}
	if flags < 0 || int(flags) >= len(modes) {
		return 0, false
	}
	return modes[flags], true
}

func (c *conn) writeMulti(h wire.RequestHeader, d *wire.Decoder, now time.Time) {
	c.server.stats.Writes++
	codes, ops, err := decodeMulti(d)
	x := c.txn(tree.Op{Kind: tree.Multi}, now)
	x.Ops = ops
	if err != wire.OK {
		x.Op = refused(err)
	}
	c.commit(x, pendingWrite{xid: h.Xid, op: wire.OpMulti, codes: codes})
}

// decodeMulti reads the operations of a multi and the opcodes of their results.
func decodeMulti(d *wire.Decoder) (codes []int32, ops []tree.Op, err wire.Err) {
	for {
		var h wire.MultiHeader
		h.Decode(d)
		switch {
		case d.Err() != nil, h.Done && d.NoPath():
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
