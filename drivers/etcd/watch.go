package etcd

import (
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/etcd/calls"
)

// A watch is one [drivers.Watch], armed or about to be. It uses one or two etcd watches: see
// [watcher.missed].
type watch struct {
	in    *watcher
	call  drivers.Watch
	path  string
	node  string // the node's key; "" for the root, which never changes
	below string // prefix of its children's keys; "" if they are not watched
	ours  bool   // on the session's own key; the probe does not see it

	// confirmed is closed when the server has said from which revision it watches, or when the
	// connection broke before that.
	confirmed chan struct{}
	// from is that revision, 0 if the server never said. Valid when confirmed is closed.
	from int64

	// The watcher's lock guards the following fields.
	on      *stream // the stream with etcd's watches
	ids     []int64 // of etcd's watches on that stream
	phase   phase
	read    sight // by the arming read; later changes fire the watch
	early   []early
	refused error // by the server
}

type phase uint8

const (
	opening phase = iota // the arming read is unanswered
	armed
	over // it has fired, or its call failed
)

// An early event arrived before it was known whether the arming read showed the change.
type early struct {
	event drivers.Event
	size  int
}

// confirm records the revision from which the server watches. The caller holds the watcher's
// lock.
func (w *watch) confirm(from int64) {
	select {
	case <-w.confirmed:
	default:
		w.from = max(w.from, from)
		close(w.confirmed)
	}
}

// event returns the watch's event for a change, and whether the watch covers the change.
func (w *watch) event(e *mvccpb.Event) (drivers.Event, bool) {
	what := drivers.Event{Type: calls.Change(e), Path: w.path, Pos: e.Kv.ModRevision}
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

// onNode returns a request for a watch of the node.
func (w *watch) onNode(id, from int64) *pb.WatchCreateRequest {
	return &pb.WatchCreateRequest{WatchId: id, Key: []byte(w.node), StartRevision: from}
}

// onChildren returns a request for a watch of the node's children.
func (w *watch) onChildren(id, from int64) *pb.WatchCreateRequest {
	return &pb.WatchCreateRequest{WatchId: id, Key: []byte(w.below),
		RangeEnd: []byte(clientv3.GetPrefixRangeEnd(w.below)), StartRevision: from}
}

// progress reports whether the response confirms that all events up to its revision have been
// sent, on every watch of the stream.
func progress(r *pb.WatchResponse) bool {
	return r.WatchId == clientv3.InvalidWatchID && !r.Created && !r.Canceled
}
