package wire

import (
	"bytes"
	"encoding/binary"

	"github.com/stampede-bench/stampede/drivers"
)

// outbound is the state of parsing the stream of requests.
type outbound struct {
	opened bool   // the packet that opens the session has passed
	part   []byte // the part already sent of a packet that is sent in pieces
	skip   int    // bytes already skipped of a packet too large to be kept
	lost   bool   // the stream has invalid packets: pass all bytes
	parts  []drivers.TxnOp
}

// requests reports every packet that ends in p. Clients usually send one packet at a time,
// which is parsed in place; pieces of a packet are first put together.
func (t *Tap) requests(p []byte) {
	for len(p) > 0 && !t.out.lost {
		if len(t.out.part) == 0 && len(p) >= 4 {
			size := int(int32(binary.BigEndian.Uint32(p)))
			if size >= 0 && size <= len(p)-4 {
				t.request(p[4:4+size], 4+size)
				p = p[4+size:]
				continue
			}
		}
		p = t.gather(p)
	}
	t.malformed += int64(len(p))
}

// gather appends the bytes that belong to the current packet and returns the rest. It keeps
// only the beginning of a packet that is larger than any server accepts.
func (t *Tap) gather(p []byte) []byte {
	o := &t.out
	if n := 4 - len(o.part); n > 0 {
		n = min(n, len(p))
		o.part = append(o.part, p[:n]...)
		if len(o.part) < 4 {
			return nil
		}
		p = p[n:]
	}
	size := int(int32(binary.BigEndian.Uint32(o.part)))
	if size < 0 || size > mostPacket {
		t.malformed += int64(len(o.part))
		o.lost, o.part = true, nil
		return p
	}
	kept := min(len(p), min(size, MaxPacket)+4-len(o.part))
	o.part = append(o.part, p[:kept]...)
	p = p[kept:]
	if len(o.part) < min(size, MaxPacket)+4 {
		return nil
	}
	return t.pass(p, size)
}

// pass skips the rest of a large packet and reports the packet at its end.
func (t *Tap) pass(p []byte, size int) []byte {
	o := &t.out
	n := min(len(p), size-MaxPacket-o.skip)
	if n > 0 {
		o.skip += n
		p = p[n:]
	}
	if size > MaxPacket+o.skip {
		return nil
	}
	t.request(o.part[4:], size+4)
	o.part, o.skip = o.part[:0], 0
	return p
}

// request reports one request and keeps what is needed for its reply.
func (t *Tap) request(payload []byte, size int) {
	if !t.out.opened {
		t.out.opened = true
		var r ConnectRequest
		d := NewDecoder(payload)
		r.Decode(&d)
		t.resumes = d.Err() == nil && r.SessionID != 0
		t.tell(drivers.Message{Kind: drivers.Request, Op: drivers.OpOpen, Size: size})
		return
	}
	d := NewDecoder(payload)
	var h RequestHeader
	h.Decode(&d)
	if d.Err() != nil {
		t.malformed += int64(size)
		return
	}
	m := drivers.Message{Kind: drivers.Request, Op: operation(h.Op), Size: size}
	decodeRequest(&m, h.Op, &d)
	if h.Op == OpMulti || h.Op == OpMultiRead {
		t.out.parts = decodeParts(t.out.parts[:0], &d)
		m.Parts = t.out.parts
	}
	if m.Op != drivers.OpPing && t.pending.full() {
		t.refused += int64(size)
		return
	}
	if m.Op != drivers.OpPing {
		t.pending.push(h.Xid, &m)
		t.pending.slot(t.pending.tail - 1).code = h.Op
	}
	if m.Op == drivers.OpRearm {
		var r SetWatches2Request
		if h.Op == OpSetWatches2 {
			r.Decode(&d)
		} else {
			r.SetWatchesRequest.Decode(&d)
		}
		m.Parts = r.Parts()
	}
	t.tell(m)
}

func decodeRequest(m *drivers.Message, code int32, d *Decoder) {
	switch code {
	case OpCreate, OpCreate2, OpCreateContainer, OpCreateTTL:
		m.Path, m.Mode = decodeCreate(d)
	case OpExists, OpGetData, OpGetChildren, OpGetChildren2:
		m.Path = d.Bytes()
		m.Watch = d.Bool()
	case OpRemoveWatches:
		m.Path = d.Bytes()
		m.Removes = removed(d.Int())
	case OpDelete, OpDeleteContainer, OpSetData, OpSync, OpCheckWatches, OpGetACL, OpSetACL,
		OpGetEphemerals, OpAllChildrenNum:
		m.Path = d.Bytes()
	}
	if code == OpAddWatch {
		m.Path, m.Watch = d.Bytes(), true
		m.Op = added(d.Int())
	}
	if (code == OpExists || code == OpSync) && bytes.HasSuffix(m.Path, []byte(FlushPath)) {
		m.Op, m.Watch = drivers.OpFlush, false
	}
}

// removed translates the type of a removeWatches, 0 for one that no server knows.
func removed(kind int32) drivers.WatchKinds {
	switch kind {
	case WatcherChildren:
		return drivers.ChildrenWatch
	case WatcherData:
		return drivers.DataWatch
	case WatcherAny:
		return drivers.AnyWatch
	case WatcherPersistent:
		return drivers.NodeWatch
	case WatcherRecursive:
		return drivers.TreeWatch
	}
	return 0
}

func decodeCreate(d *Decoder) (path []byte, m drivers.Mode) {
	path = d.Bytes()
	d.Bytes() // the data
	for range d.Len(12) {
		d.Int()
		d.Bytes()
		d.Bytes()
	}
	return path, mode(d.Int())
}

// added translates the mode of an addWatch: 0 is persistent, 1 is persistent and recursive.
func added(mode int32) drivers.Op {
	if mode == 1 {
		return drivers.OpWatchTree
	}
	return drivers.OpWatchNode
}

// mode translates the flags of a create: 1 ephemeral, 2 sequential, 3 both, 4 container, 5 and
// 6 with a time to live, 6 also sequential.
func mode(flags int32) drivers.Mode {
	switch flags {
	case 1, 2, 3:
		return drivers.Mode(flags)
	case 6:
		return drivers.Sequential
	}
	return 0
}

func operation(code int32) drivers.Op {
	switch code {
	case OpCreate, OpCreate2, OpCreateContainer, OpCreateTTL:
		return drivers.OpCreate
	case OpDelete, OpDeleteContainer:
		return drivers.OpDelete
	case OpSetData:
		return drivers.OpSet
	case OpExists:
		return drivers.OpExists
	case OpGetData, OpGetACL, OpAllChildrenNum, OpMultiRead:
		return drivers.OpGet
	case OpGetChildren, OpGetChildren2:
		return drivers.OpChildren
	case OpSync:
		return drivers.OpSync
	case OpMulti, OpSetACL: // which changes nothing that is watched
		return drivers.OpMulti
	case OpPing:
		return drivers.OpPing
	case OpCloseSession:
		return drivers.OpClose
	case OpSetWatches, OpSetWatches2:
		return drivers.OpRearm
	case OpRemoveWatches:
		return drivers.OpUnwatch
	}
	return drivers.OpOther
}

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
	r := t.pending.slot(i)
	return r.op == drivers.OpCreate || len(r.parts) > 0
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
		r := t.pending.slot(i)
		m.Op, m.Watch, m.Mode, m.Removes, m.Path = r.op, r.watch, r.mode, r.kinds, r.path
		if m.Op == drivers.OpCreate && m.Err == nil {
			m.Path = d.Bytes()
		}
		switch m.Parts = r.parts; r.code {
		case OpMulti:
			m.Err = r.decodeResults(m.Err, &d)
		case OpMultiRead:
			r.decodeReads(m.Err, &d)
		case OpSetACL:
			m.Pos = 0
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
