package server

import (
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

// An asked is a write without an answer so far.
type asked struct {
	xid   int32
	op    int32   // the opcode of its result
	codes []int32 // for a multi: the opcodes of its results
}

// commit executes a transaction that c requested, and answers it. In an ensemble that happens when a
// majority of the members has it on disk.
func (c *conn) commit(x tree.Txn, a asked) {
	if c.line != nil {
		c.line.Write(x, func(r *replica.Applied) { c.committed(r, a) })
		return
	}
	r := c.apply(x)
	c.answerWrite(a, &r)
}

func (c *conn) committed(r *replica.Applied, a asked) {
	if r == nil { // the result will never be known
		c.drop()
		return
	}
	c.answerWrite(a, &r.Result)
}

func (c *conn) answerWrite(a asked, r *tree.Result) {
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
	c.commit(c.txn(op, now), asked{xid: h.Xid, op: h.Op})
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
	c.commit(c.txn(refused(wire.ErrReconfigDisabled), now), asked{xid: h.Xid, op: h.Op})
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
