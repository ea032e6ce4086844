package lean

import (
	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// tell tells the probe. It must be called with the lock held, so that the probe
// is told one message at a time, and nothing after the cut.
func (l *line) tell(m drivers.Message) {
	if probe := l.conn.options.Probe; probe != nil && !l.dead {
		probe.Message(m)
	}
}

// tellRequest tells of a request, and keeps what its reply is told with.
func (l *line) tellRequest(k *call) {
	if !l.conn.watched() {
		return
	}
	k.asked = append(k.asked[:0], k.server...)
	l.tell(drivers.Message{Kind: drivers.Request, Op: k.word(), Path: k.asked, Watch: k.arms, Mode: k.mode, Size: k.size})
}

// word is what the call asks of the server, which may watch a tree for who asked
// for a node.
func (k *call) word() drivers.Op {
	if k.code == wire.OpAddWatch && k.version == wire.AddWatchRecursive {
		return drivers.OpWatchTree
	}
	return k.op
}

// watched tells whether anybody wants to know of messages.
func (c *Conn) watched() bool { return c.options.Probe != nil || c.options.LoseReply != nil }

// reply is the message of a reply, complete but for its path.
func reply(h wire.ReplyHeader, payload []byte) drivers.Message {
	return drivers.Message{Kind: drivers.Reply, Err: h.Err.Sentinel(), Pos: max(h.Zxid, 0),
		Size: wire.LengthSize + len(payload)}
}

// replyTo is that to a call.
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

// hear tells of a reply, unless it is to be lost.
func (l *line) hear(m drivers.Message) error {
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
	l.tell(m)
	return nil
}
