package etcd

import (
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/stampede-bench/stampede/drivers"
)

// A watch is one [drivers.Watch], armed or about to be. It is one watch of
// etcd, or two: see [watcher.arm].
type watch struct {
	in    *watcher
	call  drivers.Watch
	path  string
	node  string // the node's key; "" for the root, which never changes
	below string // what its children's keys begin with; "" if they are not watched
	ours  bool   // the session's own; counts for nobody

	// confirmed is closed when the server has said from which revision on it
	// watches, or will not any more because the connection broke.
	confirmed chan struct{}
	// from is that revision, 0 if it never said. Valid when confirmed is closed.
	from int64

	// What follows is guarded by the watcher.
	on      *stream // where etcd watches for it
	ids     []int64 // etcd's watches there
	phase   phase
	read    sight // by the read that armed it; later changes fire it
	early   []early
	refused error // by the server
}

type phase uint8

const (
	opening phase = iota // its read has not been answered
	armed
	over // fired, or its call failed
)

// An early event came before it was known whether the read contained it.
type early struct {
	event drivers.Event
	size  int
}

// confirm says from which revision on the server watches. The caller has the
// watcher's lock.
func (w *watch) confirm(from int64) {
	select {
	case <-w.confirmed:
	default:
		w.from = max(w.from, from)
		close(w.confirmed)
	}
}

// event is what the watch is told of a change, if it covers it.
func (w *watch) event(e *mvccpb.Event) (drivers.Event, bool) {
	what := drivers.Event{Type: change(e), Path: w.path, Pos: e.Kv.ModRevision}
	switch {
	case w.ours:
		return what, what.Type == drivers.Deleted
	case w.below == "":
		return what, true
	case string(e.Kv.Key) == w.node:
		return what, what.Type == drivers.Deleted
	}
	covered := what.Type != drivers.DataChanged
	what.Type = drivers.ChildrenChanged
	return what, covered
}

// change is what happened to the key itself.
func change(e *mvccpb.Event) drivers.EventType {
	switch {
	case e.Type == mvccpb.Event_DELETE:
		return drivers.Deleted
	case e.Kv.CreateRevision == e.Kv.ModRevision:
		return drivers.Created
	}
	return drivers.DataChanged
}

// onNode asks for a watch of the node.
func (w *watch) onNode(id, from int64) *pb.WatchCreateRequest {
	return &pb.WatchCreateRequest{WatchId: id, Key: []byte(w.node), StartRevision: from}
}

// onChildren asks for one of its children.
func (w *watch) onChildren(id, from int64) *pb.WatchCreateRequest {
	return &pb.WatchCreateRequest{WatchId: id, Key: []byte(w.below),
		RangeEnd: []byte(clientv3.GetPrefixRangeEnd(w.below)), StartRevision: from}
}

// progress tells whether the response says that all events up to its revision
// have been sent, on every watch of the stream.
func progress(r *pb.WatchResponse) bool {
	return r.WatchId == clientv3.InvalidWatchID && !r.Created && !r.Canceled
}
