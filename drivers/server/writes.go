package server

import (
	"time"

	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// apply executes a transaction and notifies the sessions that watch for its events. With a journal,
// packets that show the change are held back until it is on disk.
func (s *Server) apply(x tree.Txn) tree.Result {
	r, events := s.change(x)
	for _, e := range events {
		f := s.watches.Fire(e, r.Zxid)
		s.stats.Fired(e.Type, f)
		s.work += f[tree.DataWatch] + f[tree.ChildWatch]
	}
	return r
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

func (c *conn) write(h wire.RequestHeader, d *wire.Decoder, now time.Time) {
	c.server.stats.Writes++
	op := decodeOp(h.Op, d)
	if d.Err() != nil { // a request that cannot be decoded takes no zxid; any other write does
		c.answer(h.Xid, wire.ErrMarshalling)
		return
	}
	r := c.apply(c.txn(op, now))
	start := c.beginReply(h.Xid, r.Err)
	if r.Err == wire.OK {
		c.packets = appendResult(c.packets, h.Op, &r.OpResult)
	}
	c.end(start)
}

// reconfig answers that reconfiguration is disabled.
func (c *conn) reconfig(h wire.RequestHeader, d *wire.Decoder, now time.Time) {
	c.server.stats.Writes++
	var r wire.ReconfigRequest
	if r.Decode(d); d.Err() != nil {
		c.answer(h.Xid, wire.ErrMarshalling)
		return
	}
	c.answer(h.Xid, c.apply(c.txn(refused(wire.ErrReconfigDisabled), now)).Err)
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
