package wire

import (
	"bytes"

	"github.com/stampede-bench/stampede/drivers"
)

// needsAll reports whether a packet must be complete to be reported. That holds for packets
// that contain a path: notifications and replies to a create or a transaction.
func (t *Tap) needsAll(beginning []byte) bool {
	d := NewDecoder(beginning)
	var h ReplyHeader
	h.Decode(&d)
	if h.Xid == XidNotification {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	i, found := t.pending.find(h.Xid)
	if !found {
		return false
	}
	op := t.pending.at(i).op
	return op == drivers.OpCreate || op == drivers.OpMulti
}

// reply reports one packet from the server; payload has at least its beginning. It returns
// false if the packet is to be dropped.
func (t *Tap) reply(payload []byte, size int) bool {
	m, i, answers := t.decode(payload, size)
	lost := m.Kind == drivers.Reply && t.lose != nil && t.lose(m)
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case lost:
		t.tell(drivers.Message{Kind: drivers.Cut})
		t.cut = true
	case m.Kind != 0:
		t.tell(m)
	}
	if answers {
		t.pending.done(i)
	}
	return !lost
}

// decode returns the message of a packet, and the index of the request that it answers, if
// any. The message of a malformed packet is zero. The message's path is valid until the
// request is marked as done.
func (t *Tap) decode(payload []byte, size int) (m drivers.Message, i uint, answers bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	d := NewDecoder(payload)
	if !t.in.opened {
		t.in.opened = true
		return t.opened(&d, size), 0, false
	}
	var h ReplyHeader
	h.Decode(&d)
	if d.Err() != nil {
		return m, 0, false
	}
	m = drivers.Message{Kind: drivers.Reply, Pos: max(h.Zxid, 0), Err: h.Err.Sentinel(), Size: size}
	switch h.Xid {
	case XidNotification:
		m.Kind, m.Err = drivers.Notification, nil
		m.Event = EventOf(d.Int())
		d.Int() // the session's state
		m.Path = d.Bytes()
		return m, 0, false
	case XidPing:
		m.Op = drivers.OpPing
		return m, 0, false
	}
	if i, answers = t.pending.find(h.Xid); answers {
		r := t.pending.at(i)
		m.Op, m.Watch, m.Mode, m.Path = r.op, r.watch, r.mode, r.path
		if m.Op == drivers.OpCreate && m.Err == nil {
			m.Path = d.Bytes()
		}
		if m.Op == drivers.OpMulti {
			m.Err = r.decodeResults(m.Err, &d)
			m.Parts = r.parts
		}
	}
	return m, i, answers
}

// opened reads the packet that opens the session, which has no header. For a session that the
// server does not know, the granted timeout is 0.
func (t *Tap) opened(d *Decoder, size int) drivers.Message {
	t.session.Decode(d)
	t.session.Password = bytes.Clone(t.session.Password)
	m := drivers.Message{Kind: drivers.Reply, Op: drivers.OpOpen, Size: size}
	if t.session.Timeout <= 0 {
		m.Err = drivers.ErrSessionLost
	}
	return m
}
