package server

import (
	"strings"

	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

func (c *conn) read(h wire.RequestHeader, d *wire.Decoder) {
	c.server.stats.Reads++
	var r wire.PathWatch
	if r.Decode(d); d.Err() != nil {
		c.answer(h.Xid, wire.ErrMarshalling)
		return
	}
	n, err := c.find(h.Op, r.Path)
	if r.Watch && (err == wire.OK || h.Op == wire.OpExists && err == wire.ErrNoNode) {
		c.server.watches.Arm(&c.watcher, watchedBy(h.Op), r.Path, tree.Standard)
	}
	if err != wire.OK {
		c.answer(h.Xid, err)
		return
	}
	start := c.beginReply(h.Xid, wire.OK)
	switch h.Op {
	case wire.OpGetData:
		c.packets = wire.AppendBytes(c.packets, n.Data())
	case wire.OpGetChildren, wire.OpGetChildren2:
		c.packets = c.appendNames(c.packets, n)
	}
	if h.Op != wire.OpGetChildren {
		c.packets = n.Stat().Append(c.packets)
	}
	c.end(start)
}

// find returns the node of a read. Exists needs no permission.
func (c *conn) find(op int32, path string) (*tree.Node, wire.Err) {
	if op != wire.OpExists {
		return c.readable(path)
	}
	if strings.ContainsRune(path, 0) {
		return nil, wire.ErrBadArguments
	}
	if n := c.server.tree.Find(path); n != nil {
		return n, wire.OK
	}
	return nil, wire.ErrNoNode
}

// watchedBy returns the table of the watches that a read arms.
func watchedBy(op int32) tree.Table {
	if op == wire.OpGetChildren || op == wire.OpGetChildren2 {
		return tree.ChildWatch
	}
	return tree.DataWatch
}

// appendNames appends the names of the node's children in the encoding of wire.Children.
func (c *conn) appendNames(b []byte, n *tree.Node) []byte {
	c.server.work += n.NumChildren()
	b = wire.AppendInt(b, int32(n.NumChildren()))
	for name := range n.Children() {
		b = wire.AppendString(b, name)
	}
	return b
}

// maxMultiRead limits the bytes of a multiRead's reply. It is far more than clients accept. Without
// it, a small packet could read the same large node many times.
const maxMultiRead = 16 << 20

// multiRead serves several reads in one request; each read succeeds or fails on its own.
func (c *conn) multiRead(h wire.RequestHeader, d *wire.Decoder) {
	ops, err := decodeReads(d)
	start := c.beginReply(h.Xid, err)
	if err == wire.OK {
		for _, op := range ops {
			if c.packets = c.appendRead(c.packets, op); len(c.packets) > maxMultiRead {
				c.drop()
				break
			}
		}
		c.packets = wire.MultiEnd().Append(c.packets)
	}
	c.end(start)
}

// A readOp is one read of a multiRead.
type readOp struct {
	code int32
	path string
}

func decodeReads(d *wire.Decoder) ([]readOp, wire.Err) {
	var ops []readOp
	for {
		var h wire.MultiHeader
		var r wire.PathWatch
		h.Decode(d)
		if d.Err() == nil && h.Done {
			return ops, wire.OK
		}
		if r.Decode(d); d.Err() != nil || h.Type != wire.OpGetData && h.Type != wire.OpGetChildren {
			return nil, wire.ErrMarshalling
		}
		ops = append(ops, readOp{h.Type, r.Path})
	}
}

func (c *conn) appendRead(b []byte, op readOp) []byte {
	c.server.work++
	n, err := c.readable(op.path)
	if err != wire.OK {
		return appendError(b, err)
	}
	b = wire.MultiHeader{Type: op.code}.Append(b)
	if op.code == wire.OpGetChildren {
		return c.appendNames(b, n)
	}
	return n.Stat().Append(wire.AppendBytes(b, n.Data()))
}

// appendError appends the result of a failed operation of a multi or multiRead.
func appendError(b []byte, err wire.Err) []byte {
	b = wire.MultiHeader{Type: wire.MultiError, Err: err}.Append(b)
	return wire.AppendInt(b, int32(err))
}

// getEphemerals lists the session's own ephemeral nodes that start with a prefix, which need not be
// a path.
func (c *conn) getEphemerals(h wire.RequestHeader, d *wire.Decoder) {
	var r wire.Path
	if r.Decode(d); d.Err() != nil {
		c.answer(h.Xid, wire.ErrMarshalling)
		return
	}
	prefix := r.Path
	if all := strings.TrimSpace(prefix); all == "" || all == "/" {
		prefix = ""
	}
	var mine wire.Children
	for path := range c.server.tree.Ephemerals(c.session.id) {
		c.server.work++
		if strings.HasPrefix(path, prefix) {
			mine.Names = append(mine.Names, path)
		}
	}
	c.reply(h, mine)
}

// getAllChildrenNumber returns the number of descendants of a node.
func (c *conn) getAllChildrenNumber(h wire.RequestHeader, d *wire.Decoder) {
	var r wire.Path
	if r.Decode(d); d.Err() != nil {
		c.answer(h.Xid, wire.ErrMarshalling)
		return
	}
	n, err := c.readable(r.Path)
	if err != wire.OK {
		c.answer(h.Xid, err)
		return
	}
	count := n.Descendants()
	if r.Path == "" { // ZooKeeper's second name of the root, which counts the root as a descendant
		count++
	}
	c.reply(h, wire.Int{Value: int32(count)})
}
