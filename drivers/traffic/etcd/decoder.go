package etcd

import (
	"time"

	"golang.org/x/net/http2"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
)

// Protocol is etcd's protocol.
func Protocol() traffic.Protocol {
	return traffic.Protocol{
		Name:   "etcd",
		Decode: func(t traffic.Tap, joined bool) traffic.Decoder { return newDecoder(t, joined) },
	}
}

// A decoder decodes one connection.
type decoder struct {
	tap               traffic.Tap
	requests, replies half
	streams           map[uint32]*stream
	at                time.Time
	undecodable       bool
}

func newDecoder(t traffic.Tap, joined bool) *decoder {
	return &decoder{
		tap: t, streams: make(map[uint32]*stream), undecodable: joined,
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
	if !d.undecodable && h.take(p, frame) == nil {
		return
	}
	d.undecodable = true
	d.tap.Gap(at, int64(len(p)))
}

func (d *decoder) Lost(at time.Time, _ bool, bytes int64) {
	d.undecodable = true
	d.tap.Gap(at, bytes)
}

func (d *decoder) End(at time.Time) { d.tap.Close(at) }

func (d *decoder) tell(m drivers.Message) { d.tap.Message(d.at, m) }
