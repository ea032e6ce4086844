package server

import (
	"bytes"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/drivers/server/replica"
	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

func (c *conn) read(h wire.RequestHeader, d *wire.Decoder) {
	c.server.stats.Reads++
	var r wire.PathWatch
	if r.Decode(d); d.Err() != nil || d.NoPath() {
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
		if r.Decode(d); d.Err() != nil || d.NoPath() || h.Type != wire.OpGetData && h.Type != wire.OpGetChildren {
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
	if r.Decode(d); d.Err() != nil || d.NoPath() {
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

// serve executes one request and queues the reply. It drops a connection whose packet is too short
// for a header.
func (c *conn) serve(payload []byte, now time.Time) {
	var h wire.RequestHeader
	d := wire.NewDecoder(payload)
	if h.Decode(&d); d.Err() != nil {
		c.drop()
		return
	}
	c.traffic.Asked(h)
	c.server.work++
	if c.mustWait(h.Op) {
		c.hold(h, bytes.Clone(d.Rest()), now)
		return
	}
	c.dispatch(h, &d, now)
	c.traffic.Zxid = c.server.tree.Zxid()
}

// hold executes a request when the client's earlier ones are answered. rest is the request behind its
// header.
func (c *conn) hold(h wire.RequestHeader, rest []byte, now time.Time) {
	c.line.Read(func() {
		if !c.dropped {
			d := wire.NewDecoder(rest)
			c.dispatch(h, &d, now)
		}
	})
}

// dispatch executes a request. d is behind its header.
func (c *conn) dispatch(h wire.RequestHeader, d *wire.Decoder, now time.Time) {
	switch h.Op {
	case wire.OpExists, wire.OpGetData, wire.OpGetChildren, wire.OpGetChildren2:
		c.read(h, d)
	case wire.OpCreate, wire.OpCreate2, wire.OpCreateContainer, wire.OpCreateTTL, wire.OpDelete,
		wire.OpDeleteContainer, wire.OpSetData, wire.OpSetACL, wire.OpCheck:
		c.write(h, d, now)
	case wire.OpMulti:
		c.writeMulti(h, d, now)
	case wire.OpReconfig:
		c.reconfig(h, d, now)
	case wire.OpPing:
		c.server.stats.Reads++
		c.answer(wire.XidPing, wire.OK)
	case wire.OpCloseSession:
		c.closeSession(h, now)
	case wire.OpAuth:
		c.auth(h, d)
	default:
		c.serveRare(h, d)
	}
}

// serveRare serves infrequent requests.
func (c *conn) serveRare(h wire.RequestHeader, d *wire.Decoder) {
	c.server.stats.Reads++
	switch h.Op {
	case wire.OpSync:
		c.sync(h, d)
	case wire.OpGetACL:
		c.getACL(h, d)
	case wire.OpMultiRead:
		c.multiRead(h, d)
	case wire.OpGetEphemerals:
		c.getEphemerals(h, d)
	case wire.OpAllChildrenNum:
		c.getAllChildrenNumber(h, d)
	case wire.OpWhoAmI:
		c.whoAmI(h)
	case wire.OpSetWatches, wire.OpSetWatches2:
		c.setWatches(h, d)
	case wire.OpAddWatch:
		c.addWatch(h, d)
	case wire.OpCheckWatches, wire.OpRemoveWatches:
		c.findWatches(h, d)
	case wire.OpSASL:
		c.answer(h.Xid, wire.ErrUnimplemented)
	default: // like ZooKeeper, hang up on a client that sends an unknown opcode
		c.queue(wire.ReplyHeader{Xid: h.Xid, Zxid: unknownZxid, Err: wire.ErrUnimplemented})
		c.leave()
	}
}

func (c *conn) sync(h wire.RequestHeader, d *wire.Decoder) {
	var r wire.Path
	if r.Decode(d); d.Err() != nil {
		c.malformed(h)
		return
	}
	if c.line != nil {
		c.line.Sync(func() { c.reply(h, wire.Path{Path: r.Path}) })
		return
	}
	c.reply(h, r)
}

func (c *conn) closeSession(h wire.RequestHeader, now time.Time) {
	c.server.stats.Writes++
	if c.line != nil {
		c.closing = true
		c.line.Write(c.txn(tree.Op{Kind: tree.CloseSession}, now), func(r *replica.Applied) {
			if r != nil {
				c.answer(h.Xid, wire.OK)
			}
			c.leave()
		})
		return
	}
	c.wrote = c.server.closeSession(c.session.id).Zxid
	c.answer(h.Xid, wire.OK)
	c.leave()
}

// readable returns a node that c may read, or the reason why c may not read it.
func (c *conn) readable(path string) (*tree.Node, wire.Err) {
	n := c.server.tree.Find(path)
	switch {
	case n == nil:
		return nil, wire.ErrNoNode
	case !n.Allows(wire.PermRead, c.who):
		return nil, wire.ErrNoAuth
	}
	return n, wire.OK
}
