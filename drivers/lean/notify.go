package lean

import (
	"strings"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
)

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
			t.due = append(t.due, due{w, drivers.Event{Type: e, Path: w.below(at, path), Pos: pos}})
		}
	}
}

// below returns a path at or below the watch's own, as the caller knows it.
func (w *persistent) below(at, path string) string {
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
