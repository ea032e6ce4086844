package etcd

import (
	"bytes"
	"errors"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
)

// A stream is one stream of a connection.
type stream struct {
	exchange
	up, down messages
	without  traffic.Cause // what it is, if it is not of gRPC
	kept     int           // bytes in all, as the budget knows
}

// undecodedOverHTTP2 are the classes of paths that are decoded over HTTP/1.1 only, or not at all.
var undecodedOverHTTP2 = map[class]traffic.Cause{
	decoded: traffic.JSONByHTTP2, counted: traffic.JSONByHTTP2, old: traffic.OldAPI,
}

// handleClientFrame handles a frame of the client.
func (d *decoder) handleClientFrame(f http2.Frame) {
	switch f := f.(type) {
	case *http2.MetaHeadersFrame:
		switch method := f.PseudoValue("path"); {
		case method == "":
		case len(d.streams) >= maxStreams:
			d.undecodable = traffic.BeyondLimit
		default:
			c, _ := classify(f.PseudoValue("method"), method)
			if c == monitoring {
				return
			}
			d.streams[f.StreamID] = &stream{exchange: exchange{method: method}, without: undecodedOverHTTP2[c]}
		}
	case *http2.DataFrame:
		if s := d.streams[f.StreamID]; s != nil {
			d.takeData(s, &s.up, f.Data(), d.ask)
		}
	case *http2.RSTStreamFrame:
		d.reset(f.StreamID)
	}
}

// maxReset is how many watches are kept that the client has ended: events that were on their way still
// come, and nothing says which of them is the last.
const maxReset = 16

// reset ends a stream that the client gives up. A watch is kept for a while.
func (d *decoder) reset(id uint32) {
	s := d.streams[id]
	if s == nil || s.method != watchMethod {
		d.end(id, errCanceled)
		return
	}
	d.fail(&s.exchange, drivers.ErrConnectionLoss, 0)
	d.ends(&s.exchange)
	d.update(s)
	if d.resets = append(d.resets, id); len(d.resets) > maxReset {
		d.end(d.resets[0], errCanceled)
		d.resets = d.resets[1:]
	}
}

// takeData takes bytes of a direction of a stream, whose messages are to be reported.
func (d *decoder) takeData(s *stream, of *messages, p []byte,
	report func(*exchange, text) traffic.Cause,
) {
	if s.without != "" {
		d.gap(int64(len(p)), s.without)
		return
	}
	of.take(p, func(t text) traffic.Cause { return report(&s.exchange, t) }, d.gap)
	d.update(s)
}

// answered handles a frame of the server. A stream ends with the server's last frame of it.
func (d *decoder) answered(f http2.Frame) {
	switch f := f.(type) {
	case *http2.MetaHeadersFrame:
		switch code := f.PseudoValue("status"); {
		case code != "" && code != "200" && code[0] != '1': // gRPC has another status for its errors
			d.end(f.StreamID, drivers.ErrUnsupported)
		case f.StreamEnded():
			d.end(f.StreamID, status(f))
		}
	case *http2.DataFrame:
		if s := d.streams[f.StreamID]; s != nil {
			d.takeData(s, &s.down, f.Data(), d.hear)
		}
	case *http2.RSTStreamFrame:
		d.end(f.StreamID, errCanceled)
	}
}

var errCanceled = errors.New("call was canceled")

// status returns the error of a call from its last headers.
func status(f *http2.MetaHeadersFrame) error {
	for _, field := range f.RegularFields() {
		if field.Name == "grpc-status" && field.Value != "0" {
			return drivers.ErrUnsupported // the contract's word for errors without a name
		}
	}
	return nil
}

// end removes a stream. A call that has no answer yet gets the error.
func (d *decoder) end(id uint32, err error) {
	s := d.streams[id]
	if s == nil {
		return
	}
	delete(d.streams, id)
	d.inStreams -= s.kept
	if err == nil || errors.Is(err, errCanceled) {
		err = drivers.ErrConnectionLoss // executed or not, the client does not know
	}
	d.fail(&s.exchange, err, 0)
	d.ends(&s.exchange)
}

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
