package etcd

import (
	"bytes"
	"cmp"
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
	resets            []uint32 // streams of watches that the client has ended
	client            bool     // it is no connection of the gateway's own
	inStreams         int      // bytes that the streams keep
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
	if d.undecodable == "" {
		switch err := h.take(p, frame); {
		case err != nil:
			d.undecodable = causeOf(err)
		case !d.account():
			d.undecodable = traffic.BeyondLimit
		}
	}
	if d.undecodable != "" {
		d.giveUp(d.undecodable)
		clear(d.gaps) // they are a part of p
		d.gap(int64(len(p)), d.undecodable)
	}
	d.report()
}

// Lost gives the connection up: its headers cannot be decoded without all that came before.
func (d *decoder) Lost(at time.Time, _ bool, bytes int64, cause traffic.Cause) {
	d.giveUp(cause)
	d.tap.Gap(at, bytes, cause)
}

// giveUp decodes nothing more, and keeps nothing. The first cause remains.
func (d *decoder) giveUp(cause traffic.Cause) {
	d.undecodable = cmp.Or(d.undecodable, cause)
	d.requests.buf, d.replies.buf = new(bytes.Buffer), new(bytes.Buffer)
	clear(d.streams)
	d.inStreams = 0
	d.account()
}

// maxStreams is how many calls at once of a connection a decoder keeps. At the first one beyond it gives the
// connection up.
const maxStreams = 1 << 12

func (d *decoder) End(at time.Time) {
	if n := d.requests.buf.Len() + d.replies.buf.Len(); n > 0 {
		d.tap.Gap(at, int64(n), traffic.Unfinished)
	}
	d.giveUp(traffic.Unfinished)
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
	buf     []byte
	skip    int           // bytes of a large message that are still to be skipped
	missing traffic.Cause // why their content is missing in the report, "" if it is not
}

const (
	messageHeader = 5       // compressed or not, and a length of four bytes
	maxMessage    = 4 << 20 // larger messages are not decoded
)

// take calls report with every message that ends in p, and gap with the bytes of those of which the content
// is missing in the report, and why.
func (b *messages) take(p []byte, report func(text) (missing traffic.Cause), gap func(int64, traffic.Cause)) {
	for len(p) > 0 {
		if n := min(b.skip, len(p)); n > 0 {
			b.skip -= n
			p = p[n:]
			if b.missing != "" {
				gap(int64(n), b.missing)
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
		b.finish(report, gap)
	}
}

// finish passes on what has become complete.
func (b *messages) finish(report func(text) traffic.Cause, gap func(int64, traffic.Cause)) {
	if len(b.buf) < messageHeader {
		return
	}
	size := int(binary.BigEndian.Uint32(b.buf[1:]))
	if size > maxMessage {
		b.skip = size
	} else if len(b.buf) < messageHeader+size {
		return
	}
	if b.missing = report(b.text(size)); b.missing != "" {
		gap(int64(len(b.buf)), b.missing)
	}
	b.buf = b.buf[:0]
	if cap(b.buf) > keptCapacity {
		b.buf = nil
	}
}

// text returns the message of which at least the header has come.
func (b *messages) text(size int) text {
	payload, compressed := b.buf[messageHeader:], b.buf[0] != 0
	return text{messageHeader + size, func(m proto.Message) traffic.Cause {
		if compressed || len(payload) < size {
			return traffic.Opaque
		}
		return parsed(proto.Unmarshal(payload, m))
	}}
}
