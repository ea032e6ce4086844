package etcd

import (
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/protobuf/proto"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/etcd/calls"
)

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
	if whole && proto.Unmarshal(payload, r) == nil {
		if c := r.GetCreateRequest(); c != nil {
			w := watch{drivers.OpWatchNode, c.Key}
			if len(c.RangeEnd) > 0 {
				w.op = drivers.OpWatchTree
			}
			if len(s.watches.creating) >= maxCreating {
				d.undecodable = true
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
