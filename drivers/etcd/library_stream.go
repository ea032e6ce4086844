package etcd

import (
	"context"
	"slices"
	"strings"
	"sync"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/grpc"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/etcd/calls"
)

type ownStream struct{}

// stream is the interceptor of streams. It leaves out the session's own watch stream, whose
// sender and receiver report its messages in more detail.
func (t *tap) stream(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string,
	streamer grpc.Streamer, opts ...grpc.CallOption,
) (grpc.ClientStream, error) {
	if ctx.Value(ownStream{}) != nil {
		return streamer(ctx, desc, cc, method, opts...)
	}
	f := &libraryStream{tap: t, breaks: t.broke(), watches: map[int64]*libraryWatch{}}
	var err error
	f.ClientStream, err = streamer(ctx, desc, cc, method, opts...)
	return f, err
}

// A libraryStream is a stream of a library, or of heartbeats.
type libraryStream struct {
	grpc.ClientStream
	tap    *tap
	breaks uint64 // number of breaks when the stream began

	mu       sync.Mutex      // guards what follows, and sending: the library and a flush both send
	creating []*libraryWatch // requested and not answered; the server answers in order
	watches  map[int64]*libraryWatch
}

// A libraryWatch is a watch of a library. It fires once, as the session's watches do: at the
// first change after what the library has read. Earlier and later events count as bytes only.
type libraryWatch struct {
	path  string
	waits drivers.EventType // ChildrenChanged for a watch of several keys
	from  int64             // first revision, 0 for now
	seen  int64             // the revision that the library has read
	fired bool
}

// SendMsg reports a request before it is sent.
func (s *libraryStream) SendMsg(message any) error {
	m := drivers.Message{Size: size(message)}
	switch r := message.(type) {
	case *pb.LeaseKeepAliveRequest:
		m.Op = drivers.OpPing
	case *pb.WatchRequest:
		if c := r.GetCreateRequest(); c != nil {
			w := s.creates(c)
			m.Watch, m.Path = true, []byte(w.path)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tap.reportRequest(m)
	return s.ClientStream.SendMsg(message)
}

// RecvMsg reports a reply or a notification before it returns it. It returns no answer to a
// flush.
func (s *libraryStream) RecvMsg(message any) error {
	for {
		if err := s.ClientStream.RecvMsg(message); err != nil {
			s.tap.ended(s)
			return err
		}
		ours, err := s.received(message)
		if !ours || err != nil {
			return err
		}
	}
}

// received reports one message. It returns whether the message answers a flush.
func (s *libraryStream) received(message any) (ours bool, err error) {
	m := drivers.Message{Size: size(message)}
	switch r := message.(type) {
	case *pb.LeaseKeepAliveResponse:
		m.Op = drivers.OpPing
	case *pb.WatchResponse:
		if len(r.Events) > 0 {
			s.events(r, m)
			return false, nil
		}
		m.Pos = r.Header.GetRevision()
		if r.Created {
			w := s.created(r.WatchId)
			m.Watch, m.Path, m.Event = true, []byte(w.path), w.waits
		}
		if r.Canceled {
			s.canceled(r.WatchId)
		}
		if progress(r) {
			m.Op = drivers.OpFlush
			s.tap.reached(s, m.Pos)
			ours = true
		}
	}
	return ours, s.tap.answered(m, s.breaks)
}

// creates records a watch that is being requested.
func (s *libraryStream) creates(r *pb.WatchCreateRequest) *libraryWatch {
	s.tap.watches(s)
	w := &libraryWatch{from: r.StartRevision, seen: s.tap.seen.Load()}
	key := string(r.Key)
	if len(r.RangeEnd) > 0 {
		w.waits, key = drivers.ChildrenChanged, strings.TrimSuffix(key, "/")
	}
	w.path = s.tap.keys.Path(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.creating = append(s.creating, w)
	return w
}

// created returns the watch whose creation the server has just confirmed.
func (s *libraryStream) created(id int64) *libraryWatch {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.creating[0]
	s.creating = s.creating[1:]
	s.watches[id] = w
	return w
}

func (s *libraryStream) canceled(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.watches, id)
}

// beginsAfter reports whether all watches of the stream begin after a revision. Then there are no
// events up to it to wait for, and the server does not answer a progress request.
func (s *libraryStream) beginsAfter(revision int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.watches {
		if !w.fired && w.from <= revision {
			return false
		}
	}
	return len(s.creating) == 0
}

// events reports events that came in one response. They are a notification if they fire the
// watch.
func (s *libraryStream) events(r *pb.WatchResponse, m drivers.Message) {
	s.mu.Lock()
	w := s.watches[r.WatchId]
	news := slices.IndexFunc(r.Events, func(e *mvccpb.Event) bool { return e.Kv.ModRevision > w.seen })
	fires := news >= 0 && !w.fired
	w.fired = w.fired || fires
	s.mu.Unlock()
	if !fires {
		s.tap.received(m.Size)
		return
	}
	m.Pos, m.Path, m.Event = r.Events[news].Kv.ModRevision, []byte(w.path), w.waits
	if m.Event == 0 {
		m.Event = calls.Change(r.Events[news])
	}
	s.tap.notified(m)
}

// progress sends a progress request. It ignores an error: the stream is about to end then.
func (s *libraryStream) progress() {
	r := &pb.WatchRequest{RequestUnion: &pb.WatchRequest_ProgressRequest{ProgressRequest: &pb.WatchProgressRequest{}}}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tap.reportRequest(drivers.Message{Op: drivers.OpFlush, Size: size(r)})
	_ = s.ClientStream.SendMsg(r)
}
