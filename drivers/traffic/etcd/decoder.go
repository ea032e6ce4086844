package etcd

import (
	"bytes"
	"encoding/binary"
	"time"

	"golang.org/x/net/http2"
	"google.golang.org/protobuf/proto"

	"github.com/stampede-bench/stampede/drivers/traffic"
)

// A decoder decodes one connection of HTTP/2.
type decoder struct {
	reporter
	share
	requests, replies half
	streams           map[uint32]*stream
	inStreams         int   // bytes that the streams keep
	unread            int64 // bytes of messages that were not read, not reported yet
}

func newDecoder(t traffic.Tap, b *budget) *decoder {
	return &decoder{
		reporter: reporter{tap: t}, share: share{budget: b}, streams: make(map[uint32]*stream),
		requests: newHalf(len(preface)), replies: newHalf(0),
	}
}

// preface is what a client sends first (RFC 9113, section 3.4).
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

func (d *decoder) FromClient(at time.Time, p []byte) {
	d.decode(at, &d.requests, p, d.handleClientFrame)
}

func (d *decoder) FromServer(at time.Time, p []byte) { d.decode(at, &d.replies, p, d.answered) }

// decode takes bytes of one direction. From the first error on, all bytes are a gap.
func (d *decoder) decode(at time.Time, h *half, p []byte, frame func(http2.Frame)) {
	d.at = at
	if d.undecodable || h.take(p, frame) != nil || d.undecodable || !d.account() {
		d.giveUp()
		d.unread = int64(len(p))
	}
	if d.unread > 0 {
		d.tap.Gap(at, d.unread)
		d.unread = 0
	}
}

func (d *decoder) Lost(at time.Time, _ bool, bytes int64) {
	d.giveUp()
	d.tap.Gap(at, bytes)
}

// giveUp decodes nothing more, and keeps nothing.
func (d *decoder) giveUp() {
	d.undecodable = true
	d.requests.buf, d.replies.buf = new(bytes.Buffer), new(bytes.Buffer)
	clear(d.streams)
	d.inStreams = 0
	d.account()
}

// maxStreams is how many calls at once of a connection a decoder keeps. At the first one beyond it gives the
// connection up.
const maxStreams = 1 << 12

func (d *decoder) End(at time.Time) {
	d.giveUp()
	d.tap.Close(at)
}

// account takes from the budget what the decoder keeps now, and reports whether that is within the budget.
func (d *decoder) account() bool {
	return d.set(d.requests.buf.Len() + d.replies.buf.Len() + d.inStreams)
}

// update takes into account what a stream keeps now.
func (d *decoder) update(s *stream) {
	now := len(s.up.buf) + len(s.down.buf) + s.size()
	d.inStreams += now - s.kept
	s.kept = now
}

// messages puts the messages of one direction of a stream together.
type messages struct {
	buf    []byte
	skip   int  // bytes of a large message that are still to be skipped
	unread bool // their content is missing in the report
}

const (
	messageHeader = 5       // compressed or not, and a length of four bytes
	maxMessage    = 4 << 20 // larger messages are not decoded
)

// take calls report with every message that ends in p. It returns the bytes of messages that were not read:
// those for which report returns false.
func (b *messages) take(p []byte, report func(text) (read bool)) (unread int64) {
	for len(p) > 0 {
		if n := min(b.skip, len(p)); n > 0 {
			b.skip -= n
			p = p[n:]
			if b.unread {
				unread += int64(n)
			}
			continue
		}
		want := messageHeader
		if len(b.buf) >= messageHeader {
			want += int(binary.BigEndian.Uint32(b.buf[1:]))
		}
		n := min(want-len(b.buf), len(p))
		b.buf = append(b.buf, p[:n]...)
		p = p[n:]
		unread += b.finish(report)
	}
	return unread
}

// finish passes on what has become complete.
func (b *messages) finish(report func(text) bool) (unread int64) {
	if len(b.buf) < messageHeader {
		return 0
	}
	size := int(binary.BigEndian.Uint32(b.buf[1:]))
	if size > maxMessage {
		b.skip = size
	} else if len(b.buf) < messageHeader+size {
		return 0
	}
	if b.unread = !report(b.text(size)); b.unread {
		unread = int64(len(b.buf))
	}
	b.buf = b.buf[:0]
	if cap(b.buf) > keptCapacity {
		b.buf = nil
	}
	return unread
}

// text returns the message of which at least the header has come.
func (b *messages) text(size int) text {
	payload, compressed := b.buf[messageHeader:], b.buf[0] != 0
	return text{messageHeader + size, func(m proto.Message) error {
		if compressed || len(payload) < size {
			return errUnread
		}
		return proto.Unmarshal(payload, m)
	}}
}
