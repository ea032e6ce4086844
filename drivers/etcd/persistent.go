package etcd

import (
	"context"
	"strings"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/stampede-bench/stampede/drivers"
)

// A persistent watch is one watch of etcd for a tree, and two for a node, whose
// key and whose children's keys are two ranges. It is always from now on: one
// from a revision in the past would have to wait for the server's next round,
// and nobody needs what was before.
type persistent struct {
	call drivers.Watch
	op   drivers.Op // OpWatchNode or OpWatchTree
	path string

	decided chan struct{} // closed when the call that arms it can return
	err     error         // why it failed. Valid when decided is closed

	// What follows is guarded by the watcher.
	phase phase
	ids   []int64 // etcd's watches on the stream
	whole bool    // they are all confirmed
	after int64   // revision: what came up to it is not told
	told  int64   // revision of the last change that was
}

// WatchNode arms a persistent watch on a node.
func (c *Conn) WatchNode(ctx context.Context, path string, w drivers.Watch) (stop func(), err error) {
	return c.persist(ctx, &persistent{call: w, op: drivers.OpWatchNode, path: path, decided: make(chan struct{})})
}

// WatchTree arms a persistent watch on a node and all below it.
func (c *Conn) WatchTree(ctx context.Context, path string, w drivers.Watch) (stop func(), err error) {
	return c.persist(ctx, &persistent{call: w, op: drivers.OpWatchTree, path: path, decided: make(chan struct{})})
}

// persist returns when the server has confirmed the watch. From then on there is
// no way to fail: it may have been called already.
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

// requests ask for what the watch covers.
func (p *persistent) requests(k keyspace) []*pb.WatchCreateRequest {
	if p.op == drivers.OpWatchTree {
		from, end := k.nodes()
		return []*pb.WatchCreateRequest{{Key: []byte(from), RangeEnd: []byte(end)}}
	}
	below := k.below(p.path)
	requests := []*pb.WatchCreateRequest{{Key: []byte(below), RangeEnd: []byte(clientv3.GetPrefixRangeEnd(below))}}
	if p.path != "/" {
		requests = append(requests, &pb.WatchCreateRequest{Key: []byte(k.node(p.path))})
	}
	return requests
}

// event is what the watch is told of a change, if it covers it.
func (p *persistent) event(k keyspace, e *mvccpb.Event) (drivers.Event, bool) {
	what := drivers.Event{Type: change(e), Path: k.path(string(e.Kv.Key)), Pos: e.Kv.ModRevision}
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
