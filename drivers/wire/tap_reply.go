package wire

import (
	"bytes"

	"github.com/stampede-bench/stampede/drivers"
)

// needsAll tells whether a packet must be there whole to be told of, which is
// where a path is in it: in a notification and in the reply to a create.
func (t *Tap) needsAll(beginning []byte) bool {
	d := NewDecoder(beginning)
	var h ReplyHeader
	h.Decode(&d)
	if h.Xid == XidNotification {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.pending.find(h.Xid)
	return r != nil && r.op == drivers.OpCreate
}

// reply tells of one packet from the server, of which payload is at least the
// beginning. It returns false if the packet is to be lost.
func (t *Tap) reply(payload []byte, size int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := drivers.Message{Kind: drivers.Reply, Size: size}
	d := NewDecoder(payload)
	if !t.in.opened {
		t.in.opened = true
		t.opened(&m, &d)
		return t.answer(m)
	}
	var h ReplyHeader
	h.Decode(&d)
	if d.Err() != nil {
		return true
	}
	m.Pos = max(h.Zxid, 0)
	switch h.Xid {
	case XidNotification:
		m.Kind = drivers.Notification
		m.Event = event(d.Int())
		d.Int() // the session's state
		m.Path = d.Bytes()
		t.tell(m)
		return true
	case XidPing:
		m.Op = drivers.OpPing
		return t.answer(m)
	}
	m.Err = sentinel(h.Err)
	r := t.pending.find(h.Xid)
	if r == nil {
		return t.answer(m)
	}
	m.Op, m.Watch, m.Mode, m.Path = r.op, r.watch, r.mode, r.path
	if m.Op == drivers.OpCreate && m.Err == nil {
		m.Path = d.Bytes()
	}
	kept := t.answer(m)
	t.pending.done(r)
	return kept
}

// opened reads the packet that opens the session, which has no header. A
// session that the server does not know is granted no time.
func (t *Tap) opened(m *drivers.Message, d *Decoder) {
	m.Op = drivers.OpOpen
	t.session.Decode(d)
	t.session.Password = bytes.Clone(t.session.Password)
	if t.session.Timeout <= 0 {
		m.Err = drivers.ErrSessionLost
	}
}

func (t *Tap) answer(m drivers.Message) bool {
	if t.lose != nil && !t.cut && t.lose(m) {
		t.tell(drivers.Message{Kind: drivers.Cut})
		t.cut = true
		return false
	}
	t.tell(m)
	return true
}

// event is 0 for what is no change of a node.
func event(code int32) drivers.EventType {
	switch code {
	case EventCreated:
		return drivers.Created
	case EventDeleted:
		return drivers.Deleted
	case EventDataChanged:
		return drivers.DataChanged
	case EventChildrenChanged:
		return drivers.ChildrenChanged
	}
	return 0
}

// sentinel translates an error code without allocating.
func sentinel(code Err) error {
	switch code {
	case OK:
		return nil
	case ErrNoNode:
		return drivers.ErrNoNode
	case ErrNodeExists:
		return drivers.ErrNodeExists
	case ErrBadVersion:
		return drivers.ErrBadVersion
	case ErrNotEmpty:
		return drivers.ErrNotEmpty
	case ErrNoChildrenForEphemerals:
		return drivers.ErrNoChildrenForEphemerals
	case ErrSessionExpired:
		return drivers.ErrSessionLost
	case ErrSessionMoved:
		return drivers.ErrConnectionLoss
	case ErrNoAuth, ErrAuthFailed, ErrInvalidACL:
		return drivers.ErrRefused
	}
	return drivers.ErrUnsupported
}
