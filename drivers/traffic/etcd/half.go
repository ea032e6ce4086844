package etcd

import (
	"bytes"
	"errors"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// half is one direction of a connection: the bytes of frames that are not complete yet, and the
// state of its header compression.
type half struct {
	skip   int // bytes before the first frame
	buf    *bytes.Buffer
	framer *http2.Framer
}

const (
	frameHeader  = 9 // bytes
	maxFrame     = 1<<24 - 1
	headerTable  = 4096         // the default size of HTTP/2, which etcd's clients and servers keep
	maxHeld      = 2 * maxFrame // bytes of headers whose end has not come
	keptCapacity = 4 << 10      // of a buffer between two pieces
)

var errTooLarge = errors.New("headers without an end")

func newHalf(skip int) half {
	h := half{skip: skip, buf: new(bytes.Buffer)}
	h.framer = http2.NewFramer(nil, h.buf)
	h.framer.SetMaxReadFrameSize(maxFrame)
	h.framer.ReadMetaHeaders = hpack.NewDecoder(headerTable, nil)
	return h
}

// take appends bytes and passes on every frame that is complete.
func (h *half) take(p []byte, frame func(http2.Frame)) error {
	n := min(h.skip, len(p))
	h.skip -= n
	h.buf.Write(p[n:])
	for complete(h.buf.Bytes()) {
		f, err := h.framer.ReadFrame()
		if err != nil {
			return err
		}
		frame(f)
	}
	if h.buf.Len() > maxHeld {
		return errTooLarge
	}
	if h.buf.Len() == 0 && h.buf.Cap() > keptCapacity {
		*h.buf = bytes.Buffer{}
	}
	return nil
}

// complete reports whether b begins with a whole frame. Headers are one frame with those that
// continue them.
func complete(b []byte) bool {
	for len(b) >= frameHeader {
		size := frameHeader + int(b[0])<<16 + int(b[1])<<8 + int(b[2])
		if len(b) < size {
			return false
		}
		kind, flags := http2.FrameType(b[3]), http2.Flags(b[4])
		headers := kind == http2.FrameHeaders || kind == http2.FrameContinuation
		if !headers || flags.Has(http2.FlagHeadersEndHeaders) {
			return true
		}
		b = b[size:]
	}
	return false
}
