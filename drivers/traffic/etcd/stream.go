package etcd

import (
	"errors"
	"regexp"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"golang.org/x/net/http2"
	"google.golang.org/protobuf/proto"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/etcd/calls"
)

// A stream is one stream of a connection: a unary call, or a stream of watches or heartbeats.
type stream struct {
	method   string // "/etcdserverpb.KV/Range"
	up, down messages
	call     calls.Call // of a unary call
	parts    []drivers.Part
	waiting  bool // the call has no answer yet
	watches  watches
	keys     int // bytes of the keys of call and parts
	kept     int // bytes in all, as the budget knows
}

// asked handles a frame of the client.
func (d *decoder) asked(f http2.Frame) {
	switch f := f.(type) {
	case *http2.MetaHeadersFrame:
		switch method := f.PseudoValue("path"); {
		case method == "":
		case len(d.streams) >= maxStreams:
			d.undecodable = true
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
				s.call = inLine(calls.Of(r))
				s.parts = partsOf(r)
				s.keys = len(s.call.Key)
				for _, p := range s.parts {
					s.keys += len(p.Path)
				}
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

// inLine marks the create of a key that stands in a line as sequential.
func inLine(c calls.Call) calls.Call {
	if c.Mode == drivers.Ephemeral && leaseName.Match(c.Key) {
		c.Mode |= drivers.Sequential
	}
	return c
}

// partsOf returns the operations of a transaction with several.
func partsOf(request proto.Message) (parts []drivers.Part) {
	r, ok := request.(*pb.TxnRequest)
	if !ok || len(r.Success) < 2 {
		return nil
	}
	for _, c := range calls.Parts(r) {
		c = inLine(c)
		parts = append(parts, drivers.Part{Op: c.Op, Path: c.Key, Mode: c.Mode})
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
			}
		}
		d.tell(m)
	}
}
