package etcd

import (
	"sync"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/stampede-bench/stampede/drivers"
)

// A watcher has the watches of one session.
//
// etcd watches from now on when it is asked to, and says since which revision:
// such a watch is served at once, while one from a revision in the past waits
// for the server's next round, every 100 ms. So the watch is opened first and
// the read goes beside it. What the read contained is dropped when it comes as
// an event. A read that was answered before the watch began, and saw an older
// revision, is repeated.
type watcher struct {
	tap    *tap
	keys   keyspace
	behind func(*watch) // reads what the server can no longer tell as events

	mu          sync.Mutex
	lost        func()  // ends the session, without waiting for it
	stream      *stream // nil while disconnected
	all         map[*watch]bool
	byID        map[int64]*watch
	lasting     map[*persistent]bool
	lastingByID map[int64]*persistent
	last        int64 // id
	rereads     int   // under way
	ended       bool
	progress    int64         // all events up to this revision have been handed on
	advanced    chan struct{} // closed and replaced when progress advances
}

func newWatcher(t *tap, keys keyspace) *watcher {
	return &watcher{
		tap: t, keys: keys, advanced: make(chan struct{}),
		all: map[*watch]bool{}, byID: map[int64]*watch{},
		lasting: map[*persistent]bool{}, lastingByID: map[int64]*persistent{},
	}
}

// open begins to watch a node, or its children, before it is read.
func (s *watcher) open(call drivers.Watch, path string, children bool) (*watch, error) {
	w := &watch{in: s, call: call, path: path, confirmed: make(chan struct{})}
	if path != "/" {
		w.node = s.keys.node(path)
	}
	if children {
		w.below = s.keys.below(path)
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

// id is one for another of etcd's watches for w. The caller has the lock.
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

// missed tells whether the read has to be repeated, for what it shows is not
// what the watch goes on from. It waits until the server has confirmed the watch:
// if the read came before, changes in between would be in neither.
//
// A node without children can go, and then the watch of its children has to
// tell; one with children cannot go before one of them does. So it is when there
// are none that the node is watched too.
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

// arm lets the watch fire for what comes after the read, and for what has come
// already. It fails if the server refused to watch or the session has ended, and
// then the watch is dropped.
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

// resume watches again, on another connection: from the read on, or it would
// miss something. From the revision after it, which may not have come to pass,
// the server would not tell its progress.
func (s *watcher) resume(w *watch) {
	w.on, w.ids = s.stream, nil
	from := w.read.revision
	if w.ours {
		from = 0 // the key was there just now
	}
	if w.below != "" {
		s.create(w, w.onChildren(s.id(w), from), drivers.OpRearm)
	}
	if w.node != "" && (w.below == "" || w.read.children == 0) {
		s.create(w, w.onNode(s.id(w), from), drivers.OpRearm)
	}
}

// drop forgets a watch whose call failed.
func (s *watcher) drop(w *watch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range w.early {
		s.tap.received(e.size)
	}
	s.remove(w)
}

// remove ends what etcd does for the watch.
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

// fire calls the watch, which does not block, so that the lock can be kept:
// nobody else fires it, and what comes after is told after.
func (s *watcher) fire(w *watch, e early) {
	s.remove(w)
	if !w.ours {
		s.tap.notified(drivers.Message{Path: []byte(w.path), Event: e.event.Type, Pos: e.event.Pos, Size: e.size})
	}
	w.call(e.event)
}
