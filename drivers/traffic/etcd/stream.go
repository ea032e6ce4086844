package etcd

import (
	"bytes"
	"errors"
	"regexp"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/protobuf/proto"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/etcd/calls"
	"github.com/stampede-bench/stampede/drivers/traffic"
)

// A stream is one stream of a connection: a unary call, or a stream of watches or heartbeats.
type stream struct {
	method   string // "/etcdserverpb.KV/Range"
	up, down messages
	call     calls.Call // of a unary call
	parts    []drivers.TxnOp
	waiting  bool // the call has no answer yet
	watches  watches
	keys     int // bytes of the keys of call and parts
	kept     int // bytes in all, as the budget knows
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
			d.streams[f.StreamID] = &stream{method: method}
		}
	case *http2.DataFrame:
		if s := d.streams[f.StreamID]; s != nil {
			s.up.take(f.Data(), func(payload []byte, whole bool) { d.request(s, payload, whole) })
			d.update(s)
		}
	case *http2.RSTStreamFrame:
		d.end(f.StreamID, errCanceled)
	}
}

// answered handles a frame of the server. A stream ends with the server's last frame of it.
func (d *decoder) answered(f http2.Frame) {
	switch f := f.(type) {
	case *http2.MetaHeadersFrame:
		if f.StreamEnded() {
			d.end(f.StreamID, status(f))
		}
	case *http2.DataFrame:
		if s := d.streams[f.StreamID]; s != nil {
			s.down.take(f.Data(), func(payload []byte, whole bool) { d.reply(s, payload, whole) })
			d.update(s)
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
	if !s.waiting {
		return
	}
	if err == nil || errors.Is(err, errCanceled) {
		err = drivers.ErrConnectionLoss // executed or not, the client does not know
	}
	d.tell(drivers.Message{Kind: drivers.Reply, Op: s.call.Op, Path: s.call.Key, Mode: s.call.Mode, Err: err})
}

// request reports a message of the client.
func (d *decoder) request(s *stream, payload []byte, whole bool) {
	m := drivers.Message{Kind: drivers.Request, Size: messageHeader + len(payload)}
	switch s.method {
	case watchMethod:
		d.watchRequest(s, &m, payload, whole)
	case keepAliveMethod:
		m.Op = drivers.OpPing
		d.tell(m)
	default:
		if k, known := kinds[s.method]; known && whole {
			if r := k.request(); proto.Unmarshal(payload, r) == nil {
				s.call = markSequential(calls.Classify(r))
				s.parts = partsOf(r)
				s.keys = len(s.call.Key)
				for _, p := range s.parts {
					s.keys += len(p.Path)
				}
			} else {
				d.broken(&m, whole)
			}
		}
		s.waiting = true
		m.Op, m.Path, m.Mode, m.Parts = s.call.Op, s.call.Key, s.call.Mode, s.parts
		d.tell(m)
	}
}

// leaseName matches the last part of a key that stands in a line, ordered by the revision of its
// creation: etcd's concurrency package names it by the lease, in hexadecimal digits, and stampede's
// driver puts a tilde before a unique suffix.
var leaseName = regexp.MustCompile(`(^|/)([0-9a-f]{12,}|[^/]*~[^/]*)$`)

// markSequential marks the create of a key that stands in a line as sequential.
func markSequential(c calls.Call) calls.Call {
	if c.Mode == drivers.Ephemeral && leaseName.Match(c.Key) {
		c.Mode |= drivers.Sequential
	}
	return c
}

// partsOf returns the operations of a transaction with several.
func partsOf(request proto.Message) (parts []drivers.TxnOp) {
	r, ok := request.(*pb.TxnRequest)
	if !ok || len(r.Success) < 2 {
		return nil
	}
	for _, c := range calls.Parts(r) {
		c = markSequential(c)
		parts = append(parts, drivers.TxnOp{Op: c.Op, Path: c.Key, Mode: c.Mode})
	}
	return parts
}

// reply reports a message of the server.
func (d *decoder) reply(s *stream, payload []byte, whole bool) {
	m := drivers.Message{Kind: drivers.Reply, Size: messageHeader + len(payload)}
	switch s.method {
	case watchMethod:
		d.watchReply(s, &m, payload, whole)
	case keepAliveMethod:
		m.Op = drivers.OpPing
		d.tell(m)
	default:
		s.waiting = false
		m.Op, m.Path, m.Mode = s.call.Op, s.call.Key, s.call.Mode
		if k, known := kinds[s.method]; known && whole {
			if r := k.response(); proto.Unmarshal(payload, r) == nil {
				d.answer(s, &m, r)
			} else {
				d.broken(&m, whole)
			}
		}
		d.tell(m)
	}
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

// watches are the watches of one stream.
type watches struct {
	creating []watch // requested and not confirmed; the server confirms in order
	keys     int     // bytes of their keys
}

// A watch covers one key, or all keys of a range.
type watch struct {
	op  drivers.Op
	key []byte
}

// watchRequest reports a message of the client on a stream of watches.
func (d *decoder) watchRequest(s *stream, m *drivers.Message, payload []byte, whole bool) {
	r := new(pb.WatchRequest)
	if !whole || proto.Unmarshal(payload, r) != nil {
		d.broken(m, whole)
	} else {
		if c := r.GetCreateRequest(); c != nil {
			w := watch{drivers.OpWatchNode, c.Key}
			if len(c.RangeEnd) > 0 {
				w.op = drivers.OpWatchTree
			}
			if len(s.watches.creating) >= maxCreating {
				d.undecodable = traffic.BeyondLimit
				return
			}
			s.watches.creating = append(s.watches.creating, w)
			s.watches.keys += len(w.key)
			m.Op, m.Path, m.Watch = w.op, w.key, true
		}
	}
	d.tell(*m)
}

// watchReply reports a message of the server on a stream of watches: each event is a
// notification, anything else a reply.
func (d *decoder) watchReply(s *stream, m *drivers.Message, payload []byte, whole bool) {
	r := new(pb.WatchResponse)
	if !whole || proto.Unmarshal(payload, r) != nil {
		d.broken(m, whole)
		d.tell(*m)
		return
	}
	m.Pos = r.GetHeader().GetRevision()
	if creating := s.watches.creating; r.Created && len(creating) > 0 {
		m.Op, m.Path, m.Watch = creating[0].op, creating[0].key, true
		s.watches.creating = creating[1:]
		s.watches.keys -= len(creating[0].key)
	}
	if len(r.Events) == 0 {
		d.tell(*m)
		return
	}
	for _, e := range r.Events {
		d.tell(drivers.Message{
			Kind: drivers.Notification, Event: calls.Change(e), Path: e.Kv.Key, Pos: e.Kv.ModRevision, Size: m.Size,
		})
		m.Size = 0 // all came in one message
	}
}
