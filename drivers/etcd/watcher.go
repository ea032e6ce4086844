package etcd

import (
	"sync"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/etcd/calls"
	"github.com/stampede-bench/stampede/drivers/etcd/keys"
)

// A watcher holds the watches of one session.
//
// A new etcd watch starts from now, and the server confirms from which revision. Such a watch
// is served immediately, while a watch from a past revision waits for the server's next round,
// every 100 ms. So the watcher creates the watch first, and the read is sent without waiting
// for it. Events that the read already showed are dropped. A read that was answered before the
// watch began, and showed an older revision, is repeated.
type watcher struct {
	tap    *tap
	keys   keys.Space
	behind func(*watch) // reads again what the server can no longer send as events

	mu          sync.Mutex
	lost        func()  // ends the session, asynchronously
	stream      *stream // nil while disconnected
	all         map[*watch]bool
	byID        map[int64]*watch
	lasting     map[*persistent]bool
	lastingByID map[int64]*persistent
	last        int64 // last id used
	rereads     int   // in progress
	ended       bool
	progress    int64         // all events up to this revision have been delivered
	advanced    chan struct{} // closed and replaced when progress advances
}

func newWatcher(t *tap, keys keys.Space) *watcher {
	return &watcher{
		tap: t, keys: keys, advanced: make(chan struct{}),
		all: map[*watch]bool{}, byID: map[int64]*watch{},
		lasting: map[*persistent]bool{}, lastingByID: map[int64]*persistent{},
	}
}

// open creates the watch of a node, or of its children, before the node is read.
func (s *watcher) open(call drivers.Watch, path string, children bool) (*watch, error) {
	w := &watch{in: s, call: call, path: path, confirmed: make(chan struct{})}
	if path != "/" {
		w.node = s.keys.Node(path)
	}
	if children {
		w.below = s.keys.ChildPrefix(path)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended:
		return nil, drivers.ErrSessionLost
	case s.stream == nil:
		return nil, errCut
	}
	s.all[w] = true
	switch {
	case children:
		s.create(w, w.onChildren(s.id(w), 0), drivers.OpOther)
	case w.node != "":
		s.create(w, w.onNode(s.id(w), 0), drivers.OpOther)
	default:
		w.confirm(0) // the root never changes
	}
	return w, nil
}

// id returns a new id for an etcd watch of w. The caller holds the lock.
func (s *watcher) id(w *watch) int64 {
	s.last++
	s.byID[s.last] = w
	w.ids = append(w.ids, s.last)
	return s.last
}

func (s *watcher) create(w *watch, r *pb.WatchCreateRequest, op drivers.Op) {
	w.on = s.stream
	s.stream.create(r, op, w.path)
}

// missed reports whether the read has to be repeated, because the watch does not start where
// the read ends. It waits until the server has confirmed the watch: if the read came first,
// neither the read nor the watch has the changes in between.
//
// A node without children can be deleted, and then the watch of its children has to fire. A
// node with children cannot be deleted before one of them is. So if the read showed no
// children, the node itself is watched too.
func (s *watcher) missed(w *watch, read sight) bool {
	<-w.confirmed
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.from > read.revision {
		return true
	}
	if w.from == 0 || w.below == "" || w.node == "" || len(w.ids) > 1 || w.on != s.stream || read.children > 0 {
		return false
	}
	w.confirmed = make(chan struct{})
	s.create(w, w.onNode(s.id(w), 0), drivers.OpOther)
	return true
}

// arm lets the watch fire for changes after the read, including those that have already
// arrived. If the server refused the watch or the session has ended, arm fails and drops the
// watch.
func (s *watcher) arm(w *watch, read sight) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refused(w); err != nil {
		s.remove(w)
		return err
	}
	w.phase = armed
	w.read = read
	for _, e := range w.early {
		if w.phase == armed && e.event.Pos > w.read.revision {
			s.fire(w, e)
		} else {
			s.tap.received(e.size)
		}
	}
	w.early = nil
	if w.phase == armed && s.stream != nil && w.on != s.stream {
		s.resume(w) // the session has reconnected since
	}
	return nil
}

func (s *watcher) refused(w *watch) error {
	if s.ended {
		return drivers.ErrSessionLost
	}
	return w.refused
}

// resume creates the watch again on a new connection, from the revision of the read so that no
// change is missed. It does not start at the next revision: that revision may not exist yet,
// and the server would then not report progress.
func (s *watcher) resume(w *watch) {
	w.on, w.ids = s.stream, nil
	from := w.read.revision
	if w.ours {
		from = 0 // the key existed a moment ago
	}
	if w.below != "" {
		s.create(w, w.onChildren(s.id(w), from), drivers.OpRearm)
	}
	if w.node != "" && (w.below == "" || w.read.children == 0) {
		s.create(w, w.onNode(s.id(w), from), drivers.OpRearm)
	}
}

// drop removes a watch whose call failed.
func (s *watcher) drop(w *watch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range w.early {
		s.tap.received(e.size)
	}
	s.remove(w)
}

// remove ends the watch and etcd's watches for it.
func (s *watcher) remove(w *watch) {
	w.phase = over
	w.confirm(0)
	delete(s.all, w)
	s.cancel(w)
}

// cancel ends etcd's watches for it.
func (s *watcher) cancel(w *watch) {
	for _, id := range w.ids {
		delete(s.byID, id)
	}
	if w.on != nil && w.on == s.stream {
		s.stream.cancel(w.ids)
	}
}

// fire calls the watch. The watch does not block, so fire keeps the lock: no other goroutine
// fires the watch, and later events are delivered later.
func (s *watcher) fire(w *watch, e early) {
	s.remove(w)
	if !w.ours {
		s.tap.notified(drivers.Message{Path: []byte(w.path), Event: e.event.Type, Pos: e.event.Pos, Size: e.size})
	}
	w.call(e.event)
}

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
