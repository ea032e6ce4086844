package etcd

import (
	"context"
	"strings"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/etcd/calls"
	"github.com/stampede-bench/stampede/drivers/etcd/keys"
)

// A persistent watch is one etcd watch for a tree, and two for a node, whose key and whose
// children's keys are two ranges. It always starts from now: a watch from a past revision
// would have to wait for the server's next round, and no caller needs earlier events.
type persistent struct {
	call drivers.Watch
	op   drivers.Op // OpWatchNode or OpWatchTree
	path string

	decided chan struct{} // closed when the call that arms it can return
	err     error         // why the arming call failed; valid when decided is closed

	// The watcher's lock guards the following fields.
	phase     phase
	ids       []int64 // etcd's watches on the stream
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
		return []*pb.WatchCreateRequest{{Key: []byte(from), RangeEnd: []byte(end)}}
	}
	below := space.Below(p.path)
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
