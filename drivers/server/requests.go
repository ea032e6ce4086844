package server

import (
	"bytes"
	"time"

	"github.com/stampede-bench/stampede/drivers/server/replica"
	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

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
		c.syncEnsemble(h, r.Path)
		return
	}
	c.reply(h, r)
}

func (c *conn) syncEnsemble(h wire.RequestHeader, path string) {
	c.line.Sync(func() { c.reply(h, wire.Path{Path: path}) })
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
