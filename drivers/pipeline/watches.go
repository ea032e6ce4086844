package pipeline

import (
	"sync"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// watches are the watches of one session, by the path on the server. The replies
// to the calls that arm them and the notifications that call them come from one
// goroutine, in the order of the connection.
type watches struct {
	mu       sync.Mutex
	armed    map[string]*watch // lists of those that fire once
	places   map[string]*place // of lasting ones
	removing map[string]int    // requests on their way that disarm all on a path
	away     bool              // lasting ones are not armed for the time being
	ended    bool

	due []due // belongs to who reads
}

// watch is one armed drivers.Watch that fires once.
type watch struct {
	call drivers.Watch
	path string // as the caller knows it
	kind kind
	next *watch // on the same path
}

// kind is which of the server's watches it is.
type kind uint8

const (
	onData  kind = 1 << iota // of a node that exists
	onExist                  // of a node that does not
	onChild
)

// concerns is which kinds of watches a change fires.
func concerns(e drivers.EventType) kind {
	switch e {
	case drivers.Created:
		return onExist
	case drivers.DataChanged:
		return onExist | onData
	case drivers.ChildrenChanged:
		return onChild
	case drivers.Deleted:
		return onExist | onData | onChild
	}
	return 0
}

// kindOf is what a read has armed.
func kindOf(k *call) kind {
	switch {
	case k.missed():
		return onExist
	case k.code == wire.OpGetChildren:
		return onChild
	}
	return onData
}

// asking must be told of every call just before it is added to those that are
// sent, and decides what it asks of the server. It returns false if the call has
// become needless.
func (t *watches) asking(k *call) bool {
	lasting := k.code == wire.OpAddWatch || k.code == wire.OpRemoveWatches
	if k.watch == nil && !lasting {
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

// lapsed tells of an answered read whose watch is not armed at the server, or
// not for long: what it counted on has been disarmed since it was asked.
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

// settled must be told of every call that is answered, or never will be.
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

// take takes out what a change on a path fires, as a list.
func (t *watches) take(path string, kinds kind) (list *watch) {
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

// fire calls the watches of a list that was taken out.
func (w *watch) fire(e drivers.EventType, pos int64) {
	for w != nil {
		next := w.next
		w.call(drivers.Event{Type: e, Path: w.path, Pos: pos})
		w = next
	}
}
