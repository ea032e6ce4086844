package lean

import (
	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
)

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
