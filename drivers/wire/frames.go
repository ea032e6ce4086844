package wire

import (
	"encoding/binary"
	"errors"
	"io"
)

// Frames splits the bytes of a connection into packets. Its buffer grows only with the bytes
// that have arrived, not with the length that the other side claims.
type Frames struct {
	from  io.Reader
	limit int
	keep  int
	buf   []byte
	data  []byte // the part of buf that was read and not yet returned
	busy  bool   // the last read filled buf: there was probably more
}

// firstBuffer is the size in bytes of a connection's initial buffer.
const firstBuffer = 1 << 10

var errLength = errors.New("impossible packet length")

// NewFrames returns the Frames of a connection. A payload of more than limit bytes is an
// error. keep is the size in bytes of the largest buffer that is kept after a packet that
// needed a larger one.
func NewFrames(from io.Reader, limit, keep int) Frames {
	return Frames{from: from, limit: limit, keep: keep}
}

// Next waits for the next packet and returns its payload, which is valid until the next call.
func (f *Frames) Next() ([]byte, error) {
	if len(f.data) == 0 && len(f.buf) > f.keep {
		f.buf = nil
	}
	for {
		payload, err := f.cut()
		if payload != nil || err != nil {
			return payload, err
		}
		if err := f.fill(); err != nil {
			return nil, err
		}
	}
}

// Ready reports whether Next would return immediately.
func (f *Frames) Ready() bool {
	return len(f.data) >= LengthSize && len(f.data)-LengthSize >= f.length()
}

// Head waits for the first bytes of a connection, which may be a four-letter word instead of a
// length, and does not consume them.
func (f *Frames) Head() (string, error) {
	for len(f.data) < LengthSize {
		if err := f.fill(); err != nil {
			return "", err
		}
	}
	return string(f.data[:LengthSize]), nil
}

func (f *Frames) length() int { return int(int32(binary.BigEndian.Uint32(f.data))) }

// cut returns the payload of a packet that has arrived completely, or nil.
func (f *Frames) cut() ([]byte, error) {
	if len(f.data) < LengthSize {
		return nil, nil
	}
	n := f.length()
	if n < 0 || n > f.limit {
		return nil, errLength
	}
	if !f.Ready() {
		return nil, nil
	}
	payload := f.data[LengthSize:][:n:n]
	f.data = f.data[LengthSize+n:]
	return payload, nil
}

// fill reads from the connection once.
func (f *Frames) fill() error {
	switch {
	case f.buf == nil:
		f.buf = make([]byte, firstBuffer)
	case len(f.data) == len(f.buf) || f.busy && len(f.buf) < f.keep:
		f.buf = make([]byte, 2*len(f.buf))
	}
	have := copy(f.buf, f.data)
	n, err := f.from.Read(f.buf[have:])
	f.data, f.busy = f.buf[:have+n], have+n == len(f.buf)
	if n > 0 {
		return nil
	}
	return err
}

// A Framer finds the beginnings of packets in one direction of a connection. The zero Framer
// expects a packet at the first byte.
type Framer struct {
	length [LengthSize]byte
	have   int // bytes of length
	left   int // bytes of the current packet that are still to come
	lost   bool
}

// Advance takes the next bytes and returns the offset of the first packet that begins in them, or
// -1 if none does, or if the bytes are no packets.
func (f *Framer) Advance(p []byte) int {
	first := -1
	for at := 0; at < len(p) && !f.lost; {
		if f.left > 0 {
			n := min(f.left, len(p)-at)
			f.left -= n
			at += n
			continue
		}
		if f.have == 0 && first < 0 {
			first = at
		}
		n := copy(f.length[f.have:], p[at:])
		f.have += n
		at += n
		if f.have == LengthSize {
			size := int32(binary.BigEndian.Uint32(f.length[:]))
			f.left, f.have, f.lost = int(size), 0, size < 0
		}
	}
	if f.lost {
		return -1
	}
	return first
}

// LengthSize is the size in bytes of the length that begins every packet.
const LengthSize = 4

// Begin appends space for a packet's length to b. The caller appends the payload and then
// calls [End] with the length that b had before.
func Begin(b []byte) []byte { return append(b, 0, 0, 0, 0) }

// End writes the length of the packet that begins at b[start:] and extends to the end of b.
func End(b []byte, start int) {
	binary.BigEndian.PutUint32(b[start:], uint32(len(b)-start-LengthSize))
}

// WholePackets reports whether p consists of whole packets with plausible headers, of requests if
// they are from a client, else of replies and notifications. It does not recognise the packets
// that open a session, which have no header.
func WholePackets(fromClient bool, p []byte) bool {
	if fromClient {
		return wholePackets(p, RequestHeaderSize, plausibleRequest)
	}
	return wholePackets(p, ReplyHeaderSize, plausibleReply)
}

func wholePackets(p []byte, least int, plausible func(*Decoder) bool) bool {
	for len(p) > 0 {
		if len(p) < LengthSize+least {
			return false
		}
		n := binary.BigEndian.Uint32(p)
		d := NewDecoder(p[LengthSize:])
		if n < uint32(least) || int64(n) > int64(len(p)-LengthSize) || !plausible(&d) {
			return false
		}
		p = p[LengthSize+int(n):]
	}
	return true
}

func plausibleRequest(d *Decoder) bool {
	var h RequestHeader
	h.Decode(d)
	known := h.Op > OpNotify && h.Op <= OpMultiRead || h.Op >= OpAuth && h.Op <= OpWhoAmI ||
		h.Op == OpCloseSession
	return known && h.Xid >= XidSetWatches
}

func plausibleReply(d *Decoder) bool {
	var h ReplyHeader
	h.Decode(d)
	return h.Xid >= XidSetWatches && h.Zxid >= -1 && h.Err <= 0 && h.Err > lowestErr
}

// lowestErr is below all error codes.
const lowestErr Err = -200

// RequestHeaderSize and ReplyHeaderSize are the headers' lengths in bytes.
const (
	RequestHeaderSize = 8
	ReplyHeaderSize   = 16
)

// A RequestHeader begins every request except the one that opens a session.
type RequestHeader struct {
	Xid int32
	Op  int32
}

// Decode reads the header.
func (h *RequestHeader) Decode(d *Decoder) { h.Xid, h.Op = d.Int(), d.Int() }

// Append appends the header to b.
func (h RequestHeader) Append(b []byte) []byte { return AppendInt(AppendInt(b, h.Xid), h.Op) }

// A ReplyHeader begins every reply and notification. An error reply consists of the header
// only.
type ReplyHeader struct {
	Xid  int32
	Zxid int64
	Err  Err
}

// Decode reads the header.
func (h *ReplyHeader) Decode(d *Decoder) { h.Xid, h.Zxid, h.Err = d.Int(), d.Long(), Err(d.Int()) }

// Append appends the header to b.
func (h ReplyHeader) Append(b []byte) []byte {
	return AppendInt(AppendLong(AppendInt(b, h.Xid), h.Zxid), int32(h.Err))
}
