package zookeeper

import (
	"context"
	"sync"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// watches holds the watches of one session, by path on the server. Messages from the tap drive
// it: the reply to a read arms its watch, and a notification fires the watches that it
// concerns, both in the order of the connection.
//
// A request is identified by its path and operation only. So at most one read that arms a
// watch is in flight per path: the next one waits until that one is answered.
type watches struct {
	mu       sync.Mutex
	pending  map[string]*watch        // in flight
	armed    map[string]*watch        // linked lists
	waiting  map[string]chan struct{} // closed when the pending watch's read is answered
	closing  bool                     // from now on a call may fail although it was answered
	ended    bool                     // no more events will arrive
	left     bool                     // watches were armed when the session ended
	imminent sync.WaitGroup           // calls that are answered and not yet returned, and whose watch was called
}

// watch is one drivers.Watch, armed or about to be.
type watch struct {
	call     drivers.Watch
	path     string // as the caller gave it
	server   string // on the server
	op       drivers.Op
	kind     wire.WatchKind
	phase    phase
	returned bool           // the call that armed it has returned
	event    *drivers.Event // held until the call returns
	next     *watch
}

type phase uint8

const (
	onItsWay phase = iota
	armed
	fired
	dropped // its call failed or was abandoned
)

func newWatches() *watches {
	return &watches{
		pending: make(map[string]*watch),
		armed:   make(map[string]*watch),
		waiting: make(map[string]chan struct{}),
	}
}

// any reports whether a watch is armed, or was when the session ended: the library keeps it.
func (t *watches) any() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.armed) > 0 || t.left
}

// begin registers a watch. It must be called before the read that arms the watch is sent.
func (t *watches) begin(ctx context.Context, w *watch) error {
	for {
		busy, err := t.enter(w)
		if busy == nil {
			return err
		}
		select {
		case <-busy:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// enter registers the watch, or returns the channel to wait for if another read is in flight.
func (t *watches) enter(w *watch) (busy chan struct{}, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return nil, drivers.ErrSessionLost
	}
	if t.pending[w.server] == nil {
		t.pending[w.server] = w
		return nil, nil
	}
	busy = t.waiting[w.server]
	if busy == nil {
		busy = make(chan struct{})
		t.waiting[w.server] = busy
	}
	return busy, nil
}

// answered arms the watch whose read the message answers.
func (t *watches) answered(m *drivers.Message) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.pending[string(m.Path)]
	if w == nil || w.op != m.Op {
		return
	}
	t.arrived(w)
	kind := kindOf(m)
	if kind == 0 || w.phase == dropped {
		return
	}
	w.kind, w.phase = kind, armed
	w.next = t.armed[w.server]
	t.armed[w.server] = w
}

// kindOf returns the kind of the watch that a read has armed, or 0 if it armed none.
func kindOf(m *drivers.Message) wire.WatchKind {
	switch {
	case m.Err == drivers.ErrNoNode && m.Op == drivers.OpExists:
		return wire.ExistWatch
	case m.Err != nil:
		return 0
	case m.Op == drivers.OpChildren:
		return wire.ChildWatch
	}
	return wire.DataWatch
}

func (t *watches) arrived(w *watch) {
	delete(t.pending, w.server)
	if busy := t.waiting[w.server]; busy != nil {
		close(busy)
		delete(t.waiting, w.server)
	}
}

// notified calls the watches that a notification concerns.
func (t *watches) notified(m *drivers.Message) {
	for w := t.concerned(m); w != nil; {
		next := w.next
		w.next = nil
		w.call(drivers.Event{Type: m.Event, Path: w.path, Pos: m.Pos})
		w = next
	}
}

func (t *watches) concerned(m *drivers.Message) (list *watch) {
	kinds := wire.FiredBy(m.Event)
	t.mu.Lock()
	defer t.mu.Unlock()
	first := t.armed[string(m.Path)]
	at := &first
	for w := *at; w != nil; w = *at {
		if w.kind&kinds == 0 {
			at = &w.next
			continue
		}
		*at = w.next
		if t.fire(w, m) {
			w.next = list
			list = w
		}
	}
	t.keep(m.Path, first)
	return list
}

// keep sets the list of a path. It allocates a key only for a path that had a list.
func (t *watches) keep(path []byte, first *watch) {
	if first == nil {
		delete(t.armed, string(path))
	} else {
		t.armed[first.server] = first
	}
}

// fire reports whether to call the watch now. The library has read the reply to its call, so
// the call is about to succeed, unless the session is being closed: then the event waits until
// the call has returned.
func (t *watches) fire(w *watch, m *drivers.Message) bool {
	w.phase = fired
	if w.returned {
		return true
	}
	if t.closing {
		w.event = &drivers.Event{Type: m.Event, Path: w.path, Pos: m.Pos}
		return false
	}
	t.imminent.Add(1)
	return true
}

// returned must be called when the library has returned from the call of the watch, also if
// the call armed no watch.
func (t *watches) returned(w *watch, err error) {
	if e := t.settle(w, err); e != nil {
		w.call(*e)
	}
}

func (t *watches) settle(w *watch, err error) *drivers.Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pending[w.server] == w {
		t.arrived(w)
	}
	if w.phase == fired && w.event == nil {
		t.imminent.Done()
	}
	w.returned = true
	if err != nil {
		t.drop(w)
		return nil
	}
	if t.ended && (w.phase == armed || w.phase == onItsWay) {
		w.phase = fired
		return &drivers.Event{Type: drivers.Lost, Path: w.path}
	}
	return w.event
}

// abandon drops the watch of an abandoned call. It returns false if the watch has been called:
// then the call is about to succeed.
func (t *watches) abandon(w *watch) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if w.phase == fired {
		return false
	}
	t.drop(w)
	return true
}

func (t *watches) drop(w *watch) {
	if w.phase == armed {
		first := t.armed[w.server]
		for at := &first; *at != nil; at = &(*at).next {
			if *at == w {
				*at = w.next
				break
			}
		}
		t.keep([]byte(w.server), first)
	}
	w.phase = dropped
}

// end fires Lost at all armed watches. Those whose call has not returned get Lost when it
// does.
func (t *watches) end() {
	t.mu.Lock()
	t.closing, t.ended = true, true
	var list *watch
	for _, w := range t.armed {
		for w != nil {
			next := w.next
			if w.returned {
				w.phase = fired
				w.next = list
				list = w
			}
			w = next
		}
	}
	t.left = t.left || len(t.armed) > 0
	clear(t.armed)
	t.mu.Unlock()
	for ; list != nil; list = list.next {
		list.call(drivers.Event{Type: drivers.Lost, Path: list.path})
	}
}
