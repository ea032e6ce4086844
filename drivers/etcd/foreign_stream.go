package etcd

import (
	"context"
	"sync"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"

	"github.com/stampede-bench/stampede/drivers"
)

type ownStream struct{}

// stream is the interceptor of streams. Our own watch stream is told of by
// those who send and receive on it, who know more of it.
func (t *tap) stream(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string,
	streamer grpc.Streamer, opts ...grpc.CallOption,
) (grpc.ClientStream, error) {
	if ctx.Value(ownStream{}) != nil {
		return streamer(ctx, desc, cc, method, opts...)
	}
	f := &foreignStream{tap: t, breaks: t.broke()}
	var err error
	f.ClientStream, err = streamer(f.arrived.on(ctx), desc, cc, method, opts...)
	return f, err
}

// A foreignStream is a stream of a library, or of heartbeats.
type foreignStream struct {
	grpc.ClientStream
	tap     *tap
	breaks  uint64 // when it began
	arrived arrival

	mu       sync.Mutex // guards what follows, and sending: the library and a fence both do
	creating []string   // nodes of watches asked for and not answered; the server answers in order
}

// SendMsg tells of a request on its way.
func (s *foreignStream) SendMsg(message any) error {
	m := drivers.Message{Size: size(message)}
	switch r := message.(type) {
	case *pb.LeaseKeepAliveRequest:
		m.Op = drivers.OpPing
	case *pb.WatchRequest:
		if c := r.GetCreateRequest(); c != nil {
			node := s.tap.keys.path(string(c.Key))
			m.Watch, m.Path = true, []byte(node)
			s.creates(node)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tap.asked(m)
	return s.ClientStream.SendMsg(message)
}

// RecvMsg tells of a reply or a notification before it hands it on. Answers to
// a fence it keeps to itself.
func (s *foreignStream) RecvMsg(message any) error {
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

// received tells of one message, and whether it is the answer to a fence.
func (s *foreignStream) received(message any) (ours bool, err error) {
	m := drivers.Message{Size: s.arrived.size}
	switch r := message.(type) {
	case *pb.LeaseKeepAliveResponse:
		m.Op = drivers.OpPing
	case *pb.WatchResponse:
		if len(r.Events) > 0 {
			s.tap.notified(s.notification(r, m))
			return false, nil
		}
		m.Pos = r.Header.GetRevision()
		if r.Created {
			m.Watch, m.Path = true, []byte(s.created())
		}
		if progress(r) {
			m.Op = drivers.OpFence
			s.tap.reached(s, m.Pos)
			ours = true
		}
	}
	return ours, s.tap.answered(m, s.breaks)
}

// creates takes note of a watch on its way.
func (s *foreignStream) creates(node string) {
	s.tap.watches(s)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.creating = append(s.creating, node)
}

// created is the node of the watch that the server has answered now.
func (s *foreignStream) created() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	node := s.creating[0]
	s.creating = s.creating[1:]
	return node
}

// notification is the first of the events that came together.
func (s *foreignStream) notification(r *pb.WatchResponse, m drivers.Message) drivers.Message {
	first := r.Events[0]
	m.Pos, m.Event = first.Kv.ModRevision, change(first)
	m.Path = []byte(s.tap.keys.path(string(first.Kv.Key)))
	return m
}

// progress asks the server how far it has got. An error is that of a stream
// which is about to end.
func (s *foreignStream) progress() {
	r := &pb.WatchRequest{RequestUnion: &pb.WatchRequest_ProgressRequest{ProgressRequest: &pb.WatchProgressRequest{}}}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tap.asked(drivers.Message{Op: drivers.OpFence, Size: size(r)})
	_ = s.ClientStream.SendMsg(r)
}
