package lean

import (
	"strings"
	"sync"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// watches holds the watches of one session, by path on the server. One goroutine processes the
// replies that arm watches and the notifications that fire them, in the order of the
// connection.
type watches struct {
	mu       sync.Mutex
	armed    map[string]*watch // lists of one-shot watches
	places   map[string]*place // of persistent watches
	removing map[string]int    // requests in flight that disarm all watches on a path
	away     bool              // persistent watches are temporarily not armed
	ended    bool

	due []due // belongs to the goroutine that reads
}

// asking must be called with every call just before it is queued. It decides what the call
// requests from the server. It returns false if the call is no longer needed.
func (t *watches) asking(k *call) bool {
	persistent := k.code == wire.OpAddWatch || k.code == wire.OpRemoveWatches
	if k.watch == nil && !persistent {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.places[k.server]
	switch k.code {
	case wire.OpAddWatch:
		t.occupy(k)
	case wire.OpRemoveWatches:
		return t.vacate(k.server)
	default:
		k.covered = p != nil
		k.arms = !k.covered
	}
	return true
}

// lapsed reports whether an answered read has no watch at the server, or will soon lose it:
// the watch that it relied on has been disarmed since the read was sent.
func (t *watches) lapsed(k *call) bool {
	if k.watch == nil || !k.op.IsRead() || k.failure() != nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if k.covered {
		return t.places[k.server] == nil
	}
	return t.removing[k.server] > 0
}

// settled must be called with every call that is answered or will never be.
func (t *watches) settled(k *call) {
	switch {
	case k.code == wire.OpAddWatch:
		t.agreed(k)
	case k.code == wire.OpRemoveWatches:
		t.removed(k.server)
	case k.last && k.failure() == nil:
		t.rearmed()
	case k.op.IsRead() && k.watch != nil && k.failure() == nil:
		t.arm(k)
	}
}

// due is a persistent watch that is to be called.
type due struct {
	*persistent
	event drivers.Event
}

// notified calls the watches that a notification fires.
func (t *watches) notified(e drivers.EventType, path string, pos int64) {
	t.mu.Lock()
	once := t.take(path, wire.FiredBy(e))
	var above *watch
	if len(t.places) > 0 {
		above = t.concerned(e, path, pos)
	}
	t.mu.Unlock()
	once.fire(e, pos)
	for _, d := range t.due {
		d.notify(d.event)
	}
	above.fire(drivers.ChildrenChanged, pos)
	clear(t.due)
	t.due = t.due[:0]
}

// concerned collects the persistent watches on the path and on its ancestors. If the server's
// watch on the parent is recursive, the server does not report that the parent's children have
// changed. Then concerned also removes and returns the one-shot watches of these children.
func (t *watches) concerned(e drivers.EventType, path string, pos int64) (above *watch) {
	if p := t.places[path]; p != nil && (e != drivers.ChildrenChanged || !p.deep) {
		t.collect(p, false, e, path, path, pos)
	}
	if e == drivers.ChildrenChanged {
		return nil
	}
	for at := path; at != ""; at = parent(at) {
		if p := t.places[at]; p != nil {
			t.collect(p, true, e, at, path, pos)
		}
	}
	if p := t.places[parent(path)]; p != nil && p.deep && e != drivers.DataChanged {
		t.collect(p, false, drivers.ChildrenChanged, parent(path), parent(path), pos)
		above = t.take(parent(path), wire.ChildWatch)
	}
	return above
}

// collect collects the watches of a place that cover a change at a path there or below.
func (t *watches) collect(p *place, tree bool, e drivers.EventType, at, path string, pos int64) {
	if t.away {
		return
	}
	for _, w := range p.persistent {
		if w.tree == tree {
			t.due = append(t.due, due{w, drivers.Event{Type: e, Path: w.pathBelow(at, path), Pos: pos}})
		}
	}
}

// pathBelow returns a path at or below the watch's own, as the caller knows it.
func (w *persistent) pathBelow(at, path string) string {
	rest := path[len(at):]
	switch {
	case rest == "":
		return w.path
	case w.path == "/":
		return "/" + strings.TrimPrefix(rest, "/")
	}
	return w.path + rest
}

// parent returns the parent of a path, or "" for the root.
func parent(path string) string {
	switch cut := strings.LastIndexByte(path, '/'); {
	case path == "/":
		return ""
	case cut <= 0:
		return "/"
	default:
		return path[:cut]
	}
}

// end calls all watches with Lost. No watch can be armed after that.
func (t *watches) end() {
	t.mu.Lock()
	t.ended = true
	armed, places := t.armed, t.places
	t.armed = nil
	var all []*persistent
	for _, p := range places {
		all = append(all, p.persistent...)
	}
	t.mu.Unlock()
	for _, w := range armed {
		w.fire(drivers.Lost, 0)
	}
	for _, w := range all {
		w.notify(drivers.Event{Type: drivers.Lost, Path: w.path})
	}
}

// watch is one armed drivers.Watch that fires once.
type watch struct {
	call drivers.Watch
	path string // as the caller gave it
	kind wire.WatchKind
	next *watch // on the same path
}

// kindOf returns the kind of watch that a read has armed.
func kindOf(k *call) wire.WatchKind {
	switch {
	case k.missed():
		return wire.ExistWatch
	case k.code == wire.OpGetChildren:
		return wire.ChildWatch
	}
	return wire.DataWatch
}

// arm arms the watch of a read that was answered.
func (t *watches) arm(k *call) {
	w := &watch{call: k.watch, path: k.path, kind: kindOf(k)}
	t.mu.Lock()
	if !t.ended {
		if t.armed == nil {
			t.armed = make(map[string]*watch)
		}
		w.next = t.armed[k.server]
		t.armed[k.server] = w
		t.mu.Unlock()
		return
	}
	t.mu.Unlock()
	w.call(drivers.Event{Type: drivers.Lost, Path: w.path})
}

// take removes and returns the watches that a change on a path fires.
func (t *watches) take(path string, kinds wire.WatchKind) (list *watch) {
	first := t.armed[path]
	if first == nil {
		return nil
	}
	for at := &first; *at != nil; {
		w := *at
		if w.kind&kinds == 0 {
			at = &w.next
			continue
		}
		*at = w.next
		w.next = list
		list = w
	}
	if first == nil {
		delete(t.armed, path)
	} else {
		t.armed[path] = first
	}
	return list
}

// fire calls the watches of a list that was removed.
func (w *watch) fire(e drivers.EventType, pos int64) {
	for w != nil {
		next := w.next
		w.call(drivers.Event{Type: e, Path: w.path, Pos: pos})
		w = next
	}
}
