package etcd

import (
	"bytes"
	"sync/atomic"
	"time"

	"golang.org/x/net/http2"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
)

// Protocol is etcd's protocol. All connections together keep at most maxUnfinished bytes of what is not
// complete: a connection that would keep more is given up.
func Protocol() traffic.Protocol {
	shared := new(budget)
	return traffic.Protocol{
		Name:   "etcd",
		Decode: func(t traffic.Tap, joined bool) traffic.Decoder { return newDecoder(t, joined, shared) },
	}
}

// A decoder decodes one connection.
type decoder struct {
	tap               traffic.Tap
	requests, replies half
	streams           map[uint32]*stream
	at                time.Time
	undecodable       bool
	budget            *budget
	inStreams         int   // bytes that the streams keep
	taken             int64 // of the budget
}

func newDecoder(t traffic.Tap, joined bool, b *budget) *decoder {
	return &decoder{
		budget: b,
		tap:    t, streams: make(map[uint32]*stream), undecodable: joined,
		requests: newHalf(len(preface)), replies: newHalf(0),
	}
}

// preface is what a client sends first (RFC 9113, section 3.4).
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

func (d *decoder) FromClient(at time.Time, p []byte) { d.decode(at, &d.requests, p, d.asked) }

func (d *decoder) FromServer(at time.Time, p []byte) { d.decode(at, &d.replies, p, d.answered) }

// decode takes bytes of one direction. From the first error on, all bytes are a gap.
func (d *decoder) decode(at time.Time, h *half, p []byte, frame func(http2.Frame)) {
	d.at = at
	if !d.undecodable && h.take(p, frame) == nil && !d.undecodable && d.account() {
		return
	}
	d.giveUp()
	d.tap.Gap(at, int64(len(p)))
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

// maxStreams is how many streams of a connection, and maxCreating how many unconfirmed watches of a
// stream, a decoder keeps. At the first one beyond it gives the connection up: the replies
// could not be told apart.
const (
	maxStreams  = 1 << 12
	maxCreating = 1 << 16
)

func (d *decoder) End(at time.Time) {
	d.giveUp()
	d.tap.Close(at)
}

func (d *decoder) tell(m drivers.Message) { d.tap.Message(d.at, m) }

// A budget counts the bytes that the decoders of all connections keep: of frames, headers and messages that are
// not complete, and of the keys of calls that have no answer.
type budget struct{ atomic.Int64 }

// maxUnfinished is far more than honest connections keep, whose messages are complete after some packets.
const maxUnfinished = 256 << 20

// account takes from the budget what the decoder keeps now, in place of what it kept before, and reports whether
// that is within the budget.
func (d *decoder) account() bool {
	now := int64(d.requests.buf.Len() + d.replies.buf.Len() + d.inStreams)
	left := maxUnfinished - d.budget.Add(now-d.taken)
	d.taken = now
	return left >= 0
}

// update takes into account what a stream keeps now.
func (d *decoder) update(s *stream) {
	now := len(s.up.buf) + len(s.down.buf) + s.keys + s.watches.keys
	d.inStreams += now - s.kept
	s.kept = now
}
