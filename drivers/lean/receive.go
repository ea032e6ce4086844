package lean

import (
	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// serve reads what the server sends until the connection ends, and returns the reason.
func (l *link) serve() error {
	for {
		payload, err := l.in.Next()
		if err == nil {
			l.heard.Store(true)
			err = l.receive(payload)
		}
		if err != nil {
			return err
		}
	}
}

// receive processes one packet. An error ends the connection.
func (l *link) receive(payload []byte) error {
	d := wire.NewDecoder(payload)
	var h wire.ReplyHeader
	h.Decode(&d)
	if err := d.Err(); err != nil {
		return err
	}
	switch h.Xid {
	case wire.XidNotification:
		return l.notified(&d, reply(h, payload))
	case wire.XidPing:
		m := reply(h, payload)
		m.Op = drivers.OpPing
		return l.reportReply(m)
	}
	return l.answered(h, &d, payload)
}

// notified reports a notification to the probe first, so that the probe sees a change before a
// watch does.
func (l *link) notified(d *wire.Decoder, m drivers.Message) error {
	m.Kind, m.Err, m.Event = drivers.Notification, nil, wire.EventOf(d.Int())
	d.Int() // the session's state
	m.Path = d.Bytes()
	if err := d.Err(); err != nil {
		return err
	}
	l.mu.Lock()
	l.report(m)
	l.mu.Unlock()
	l.conn.watches.notified(m.Event, string(m.Path), m.Pos)
	return nil
}

// answered processes the reply to the next call.
func (l *link) answered(h wire.ReplyHeader, d *wire.Decoder, payload []byte) error {
	k := l.next()
	if k == nil || k.xid != h.Xid {
		return errOrder
	}
	k.answer, k.position = h.Err, h.Zxid
	l.conn.ensemble.Show(h.Zxid)
	malformed := l.decode(k, d)
	if err := l.reportReply(replyTo(k, h, payload)); err != nil {
		return err
	}
	if malformed != nil {
		return malformed
	}
	l.done()
	l.conn.advance(h.Zxid, k.last)
	return l.conn.settle(l, k)
}

// advance records the position of a reply. Until the last request that arms watches again is
// answered, a watch may have missed changes since the disconnect: if the connection breaks
// before that, the next connection arms from the same position again.
func (c *Conn) advance(zxid int64, last bool) {
	c.position = max(c.position, zxid)
	c.rearming = c.rearming && !last
	if !c.rearming {
		c.told = c.position
	}
}

// largeReply is the size in bytes from which a reply takes long to decode.
const largeReply = 32 << 10

// decode decodes a reply. It decodes at most as many large replies at a time as there are
// processors, so that heartbeats are not delayed by the large replies of all sessions. While a
// session waits for its turn, its server does not count as silent.
func (l *link) decode(k *call, d *wire.Decoder) error {
	if len(d.Rest()) < largeReply {
		return k.decode(d)
	}
	l.held.Store(true)
	l.conn.decoding <- struct{}{}
	err := k.decode(d)
	<-l.conn.decoding
	l.heard.Store(true)
	l.held.Store(false)
	return err
}

// next returns the call to be answered next, or nil.
func (l *link) next() *call {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pending.first()
}

// done removes that call.
func (l *link) done() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unanswered -= l.pending.pop().size
}

// settle completes an answered call. An error ends the connection.
func (c *Conn) settle(l *link, k *call) error {
	answer, code := k.answer, k.code
	switch {
	case k.unasked:
		c.settleUnasked(k)
	case c.watches.lapsed(k):
		l.again(k)
	case !k.finish():
		c.giveUp(l, k)
	default:
		c.watches.settled(k)
		k.done <- struct{}{}
	}
	switch {
	case code == wire.OpCloseSession:
		return errClosed
	case answer == wire.ErrSessionMoved, answer == wire.ErrSessionExpired:
		return errMoved // a new connection resolves that
	case answer != wire.OK && (code == wire.OpSetWatches || code == wire.OpSetWatches2):
		return errUnarmed
	}
	return nil
}

// settleUnasked completes a request that no caller waits for.
func (c *Conn) settleUnasked(k *call) {
	if k.before != nil && k.answer != wire.OK {
		k.before.err = k.answer
	}
	c.watches.settled(k)
	c.free(k)
}

// again repeats a read, with a watch of its own.
func (l *link) again(k *call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(k)
	l.handOver()
}

// giveUp processes the answer to an abandoned call.
func (c *Conn) giveUp(l *link, k *call) {
	k.watch = nil
	c.watches.settled(k)
	if k.code == wire.OpAddWatch && k.answer == wire.OK {
		l.post(c.newCall(request{op: drivers.OpUnwatch, code: wire.OpRemoveWatches, path: k.path}))
	}
	c.free(k)
}
