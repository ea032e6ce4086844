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
	tap      *tap
	keys     keyspace
	mu       sync.Mutex
	stream   *stream // nil while disconnected
	all      map[*watch]bool
	byID     map[int64]*watch
	last     int64  // id
	ours     *watch // of the session's own key
	lost     func() // ends the session, without waiting for it
	ended    bool
	progress int64         // all events up to this revision have been handed on
	advanced chan struct{} // closed and replaced when progress advances
}

func newWatcher(t *tap, keys keyspace) *watcher {
	return &watcher{tap: t, keys: keys, all: map[*watch]bool{}, byID: map[int64]*watch{}, advanced: make(chan struct{})}
}

// open begins to watch a node, or its children, before it is read.
func (s *watcher) open(call drivers.Watch, path string, children bool) (*watch, error) {
	w := &watch{call: call, path: path, confirmed: make(chan struct{})}
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
		close(w.confirmed) // the root never changes
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

// arm lets the watch fire for what comes after the read, and for what has come
// already. It fails if the server refused to watch or the session has ended, and
// then the watch is dropped.
//
// A node without children can go, and then the watch of its children has to
// tell; one with children cannot go before one of them does. So only the former
// is watched itself too: from the read on, which may be the past by now, but no
// recipe waits for that.
func (s *watcher) arm(w *watch, read int64, childless bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refused(w); err != nil {
		s.remove(w)
		return err
	}
	w.phase, w.read, w.childless = armed, read, childless
	for _, e := range w.early {
		if w.phase == armed && e.event.Pos > read {
			s.fire(w, e)
		} else {
			s.tap.received(e.size)
		}
	}
	w.early = nil
	switch {
	case w.phase == over || s.stream == nil: // or begin does it
	case w.on != s.stream:
		s.resume(w)
	case w.goes():
		s.create(w, w.onNode(s.id(w), read+1), drivers.OpOther)
	}
	return nil
}

func (s *watcher) refused(w *watch) error {
	if s.ended {
		return drivers.ErrSessionLost
	}
	return w.refused
}

// resume watches again, on another connection, from the read on.
func (s *watcher) resume(w *watch) {
	w.on, w.ids = s.stream, nil
	if w.below != "" {
		s.create(w, w.onChildren(s.id(w), w.read+1), drivers.OpRearm)
	}
	if w.below == "" && w.node != "" || w.goes() {
		s.create(w, w.onNode(s.id(w), w.read+1), drivers.OpRearm)
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
