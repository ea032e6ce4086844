package etcd

import (
	"context"
	"strings"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/etcd/calls"
	"github.com/stampede-bench/stampede/drivers/etcd/keys"
)

// A persistent watch is one etcd watch for a tree, and two for a node, whose key and whose
// children's keys are two ranges. It starts from now, also after a reconnect: a watch from a
// past revision has to wait for the server's next round. Only one that resumes asks for
// earlier events.
type persistent struct {
	call drivers.Watch
	op   drivers.Op // OpWatchNode or OpWatchTree
	path string
	// resumes: after a reconnect it continues after the last event.
	resumes bool

	decided chan struct{} // closed when the call that arms it can return
	err     error         // why the arming call failed; valid when decided is closed

	// The watcher's lock guards the following fields.
	phase     phase
	ids       []int64 // etcd's watches on the stream
	from      int64   // revision from which they were requested, 0 for now
	whole     bool    // all of them are confirmed
	after     int64   // revision up to which events are dropped
	delivered int64   // revision of the last event that was delivered
}

// WatchNode arms a persistent watch on a node.
func (c *Conn) WatchNode(ctx context.Context, path string, w drivers.Watch) (stop func(), err error) {
	return c.persist(ctx, &persistent{call: w, op: drivers.OpWatchNode, path: path, decided: make(chan struct{})})
}

// WatchTree arms a persistent watch on a node and all nodes below it.
func (c *Conn) WatchTree(ctx context.Context, path string, w drivers.Watch) (stop func(), err error) {
	return c.persist(ctx, &persistent{call: w, op: drivers.OpWatchTree, path: path, decided: make(chan struct{})})
}

// ResumeTree arms a persistent watch that misses no change while the session is disconnected.
func (c *Conn) ResumeTree(ctx context.Context, path string, w drivers.Watch) (stop func(), err error) {
	return c.persist(ctx, &persistent{call: w, op: drivers.OpWatchTree, path: path, resumes: true, decided: make(chan struct{})})
}

// persist returns when the server has confirmed the watch. It must not fail after that: the
// watch may already have been called.
func (c *Conn) persist(ctx context.Context, p *persistent) (stop func(), err error) {
	if err := c.ready(ctx, &query{op: p.op, path: p.path}); err != nil {
		return nil, err
	}
	c.watches.persist(p)
	select {
	case <-p.decided:
	case <-ctx.Done():
		c.watches.giveUp(p, context.Cause(ctx))
	}
	if p.err != nil {
		return nil, failed(p.op.String(), p.path, p.err)
	}
	return func() { c.watches.stop(p) }, nil
}

// requests returns the requests that create the watches of etcd.
func (p *persistent) requests(space keys.Space) []*pb.WatchCreateRequest {
	if p.op == drivers.OpWatchTree {
		from, end := space.Nodes()
		return []*pb.WatchCreateRequest{{Key: []byte(from), RangeEnd: []byte(end), StartRevision: p.from}}
	}
	below := space.ChildPrefix(p.path)
	requests := []*pb.WatchCreateRequest{{Key: []byte(below), RangeEnd: []byte(clientv3.GetPrefixRangeEnd(below))}}
	if p.path != "/" {
		requests = append(requests, &pb.WatchCreateRequest{Key: []byte(space.Node(p.path))})
	}
	return requests
}

// event returns the watch's event for a change, and whether the watch covers the change.
func (p *persistent) event(space keys.Space, e *mvccpb.Event) (drivers.Event, bool) {
	what := drivers.Event{Type: calls.Change(e), Path: space.Path(string(e.Kv.Key)), Pos: e.Kv.ModRevision}
	switch {
	case p.op == drivers.OpWatchTree:
		return what, what.Path == p.path || strings.HasPrefix(what.Path, strings.TrimSuffix(p.path, "/")+"/")
	case what.Path == p.path:
		return what, true
	}
	covered := what.Type != drivers.DataChanged
	what.Type, what.Path = drivers.ChildrenChanged, p.path
	return what, covered
}

// persist requests the watch. The outcome is decided later.
func (s *watcher) persist(p *persistent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended:
		s.decide(p, drivers.ErrSessionLost)
	case s.stream == nil:
		s.decide(p, errCut)
	default:
		s.lasting[p] = true
		s.ask(p, drivers.OpOther, p.op)
	}
}

// ask sends all requests of the watch. The server answers in order, so the answer to the last
// one is the answer to the call.
func (s *watcher) ask(p *persistent, others, last drivers.Op) {
	requests := p.requests(s.keys)
	p.ids, p.whole = nil, false
	for i, r := range requests {
		s.last++
		r.WatchId = s.last
		p.ids = append(p.ids, r.WatchId)
		s.lastingByID[r.WatchId] = p
		op := others
		if i == len(requests)-1 {
			op = last
		}
		s.stream.create(r, op, p.path)
	}
}

// again requests an armed watch on a new connection. One that resumes asks for the events from
// the last revision that it knows, as [watcher.resume] does.
func (s *watcher) again(p *persistent) {
	if p.resumes {
		p.from = max(p.after, p.delivered)
		p.after = p.from
	}
	s.ask(p, drivers.OpRearm, drivers.OpRearm)
}

// decide sets the outcome of the arming call. The caller holds the lock.
func (s *watcher) decide(p *persistent, err error) {
	p.phase, p.err = armed, err
	if err != nil {
		s.discard(p)
	}
	close(p.decided)
}

// giveUp fails the arming call, unless its outcome is decided.
func (s *watcher) giveUp(p *persistent, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.phase == opening {
		s.decide(p, why)
	}
}

func (s *watcher) stop(p *persistent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.phase == armed {
		s.discard(p)
	}
}

// discard ends etcd's watches for it. The watch must not be called any more.
func (s *watcher) discard(p *persistent) {
	p.phase = over
	delete(s.lasting, p)
	s.release(p)
}

// release ends etcd's watches for it.
func (s *watcher) release(p *persistent) {
	for _, id := range p.ids {
		delete(s.lastingByID, id)
	}
	if s.stream != nil {
		s.stream.cancel(p.ids)
	}
}

// confirmed records that the server serves a part of the watch from a revision on. With the
// last part the watch is armed, or armed again.
func (s *watcher) confirmed(p *persistent, id, from int64) {
	if p.from == 0 {
		p.after = max(p.after, from)
	}
	if id != p.ids[len(p.ids)-1] {
		return
	}
	p.whole = true
	switch {
	case p.phase == opening:
		s.decide(p, nil)
	case p.from == 0:
		p.rearmed()
	}
}

func (p *persistent) rearmed() { p.call(drivers.Event{Type: drivers.Rearmed, Path: p.path}) }

// deliver passes on the events that the watch covers. It drops events up to the revision at which
// all parts were confirmed: a read after arming shows those changes.
//
// The server sends the events of the parts in one order as long as it keeps up with both. If
// one part has fallen behind the other, its events come late. Then deliver reports Rearmed, so
// that the caller reads everything again.
func (s *watcher) deliver(p *persistent, r *pb.WatchResponse, size int) {
	late := false
	for _, e := range r.Events {
		event, covered := p.event(s.keys, e)
		switch {
		case !covered:
		case !p.whole:
			p.after = max(p.after, event.Pos)
		case event.Pos <= p.after:
		case event.Pos < p.delivered:
			late = true
		default:
			p.delivered = event.Pos
			s.tap.notified(drivers.Message{Path: []byte(event.Path), Event: event.Type, Pos: event.Pos, Size: size})
			size = 0
			p.call(event)
		}
	}
	if late {
		p.rearmed()
	}
	s.tap.received(size)
}

// deny handles a watch that the server does not serve, or no longer serves. If the watch was
// so far behind that the server has compacted its events, it is armed again from now. In other
// cases deny does as refuse does.
func (s *watcher) deny(p *persistent, r *pb.WatchResponse) {
	switch {
	case p.phase == opening:
		s.decide(p, status.Error(codes.PermissionDenied, r.CancelReason))
	case r.CompactRevision > 0:
		s.release(p)
		p.from = 0
		s.ask(p, drivers.OpRearm, drivers.OpRearm)
	default:
		s.lost()
	}
}

// lose reports the end of the session to the watch.
func (s *watcher) lose(p *persistent) {
	if p.phase == opening {
		s.decide(p, drivers.ErrSessionLost)
		return
	}
	s.discard(p)
	p.call(drivers.Event{Type: drivers.Lost, Path: p.path})
}
