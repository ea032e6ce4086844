package lean

import (
	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// report reports a message to the probe. The caller holds the lock, so that the probe gets one
// message at a time, and none after the cut.
func (l *link) report(m drivers.Message) {
	if probe := l.conn.options.Probe; probe != nil && !l.dead {
		probe.Message(m)
	}
}

// reportRequest reports a request, and keeps the path for the report of its reply.
func (l *link) reportRequest(k *call) {
	if !l.conn.watched() {
		return
	}
	k.asked = append(k.asked[:0], k.server...)
	l.report(drivers.Message{Kind: drivers.Request, Op: k.word(), Path: k.asked, Watch: k.arms, Mode: k.mode, Size: k.size})
}

// word returns the operation sent to the server, which may be a watch of a tree where the
// caller wanted a watch of a node.
func (k *call) word() drivers.Op {
	if k.code == wire.OpAddWatch && k.version == wire.AddWatchRecursive {
		return drivers.OpWatchTree
	}
	return k.op
}

// watched reports whether the options ask for messages.
func (c *Conn) watched() bool { return c.options.Probe != nil || c.options.LoseReply != nil }

// reply returns the message of a reply, without its operation and path.
func reply(h wire.ReplyHeader, payload []byte) drivers.Message {
	return drivers.Message{Kind: drivers.Reply, Err: h.Err.Sentinel(), Pos: max(h.Zxid, 0),
		Size: wire.LengthSize + len(payload)}
}

// replyTo returns the message of the reply to a call.
func replyTo(k *call, h wire.ReplyHeader, payload []byte) drivers.Message {
	m := reply(h, payload)
	m.Op, m.Watch, m.Mode = k.word(), k.arms, k.mode
	switch {
	case m.Op == drivers.OpCreate && m.Err == nil:
		d := wire.NewDecoder(payload[wire.ReplyHeaderSize:])
		m.Path = d.Bytes()
	case m.Watch || !m.Op.IsRead():
		m.Path = k.asked
	}
	return m
}

// reportReply reports a reply. It returns an error if LoseReply drops the reply.
func (l *link) reportReply(m drivers.Message) error {
	if lose := l.conn.options.LoseReply; lose != nil {
		l.held.Store(true)
		lost := lose(m)
		l.held.Store(false)
		l.heard.Store(true)
		if lost {
			return errLost
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.report(m)
	return nil
}
