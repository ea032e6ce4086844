package lean

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// A place is a path on the server that has a persistent watch. A server keeps one watch for each
// path of a connection. While a path has a persistent watch, no further watch on it is armed at
// the server: before ZooKeeper 3.9, such a watch would disarm the persistent one when it fires.
// The events of the persistent watch go to all watches on the path.
//
// A recursive watch does not report that a node's children have changed, since it reports the
// changes to the children. Watches that need the former event get it derived from the latter.
type place struct {
	persistent []*persistent
	asking     int  // calls in flight
	tree       bool // the last request was for a recursive watch
	deep       bool // the server has a recursive watch
}

// persistent is one armed drivers.Watch that stays armed.
type persistent struct {
	path   string // as the caller gave it
	server string
	tree   bool

	mu      sync.Mutex // held while the watch is called
	call    drivers.Watch
	stopped bool
}

// notify calls the watch, unless it has been stopped.
func (w *persistent) notify(e drivers.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.stopped {
		w.stopped = e.Type == drivers.Lost
		w.call(e)
	}
}

// WatchNode arms a watch on one node.
func (c *Conn) WatchNode(ctx context.Context, path string, w drivers.Watch) (stop func(), err error) {
	return c.persistent(ctx, request{op: drivers.OpWatchNode, code: wire.OpAddWatch, path: path, watch: w})
}

// WatchTree arms a watch on a node and all nodes below it, present and future.
func (c *Conn) WatchTree(ctx context.Context, path string, w drivers.Watch) (stop func(), err error) {
	return c.persistent(ctx, request{op: drivers.OpWatchTree, code: wire.OpAddWatch, path: path, watch: w})
}

func (c *Conn) persistent(ctx context.Context, r request) (stop func(), err error) {
	k, err := c.do(ctx, r)
	if err != nil {
		return nil, unknown(err)
	}
	defer c.free(k)
	w := k.persistent
	return func() { c.stop(w) }, nil
}

// unknown explains the error of a server that does not support persistent watches.
func unknown(err error) error {
	if errors.Is(err, drivers.ErrUnsupported) {
		return fmt.Errorf("%w: persistent watches take ZooKeeper 3.6 or newer", err)
	}
	return err
}

// stop ends a persistent watch, and at the server too if no other watch needs it there.
func (c *Conn) stop(w *persistent) {
	w.mu.Lock()
	w.stopped = true
	w.mu.Unlock()
	if l := c.link.Load(); c.watches.forget(w) && l != nil {
		l.post(c.newCall(request{op: drivers.OpUnwatch, code: wire.OpRemoveWatches, path: w.path}))
	}
}

// occupy records that a call requests a persistent watch, and sets its mode.
func (t *watches) occupy(k *call) {
	p := t.places[k.server]
	if p == nil {
		p = new(place)
		if t.places == nil {
			t.places = make(map[string]*place)
		}
		t.places[k.server] = p
	}
	p.asking++
	k.arms = true
	p.tree = p.tree || k.op == drivers.OpWatchTree
	if k.version = wire.AddWatchPersistent; p.tree {
		k.version = wire.AddWatchRecursive
	}
}

// agreed keeps the watch of a call that succeeded and was not abandoned.
func (t *watches) agreed(k *call) {
	t.mu.Lock()
	p := t.places[k.server]
	p.asking--
	ended := t.ended
	if k.err == nil && k.answer == wire.OK {
		p.deep = k.version == wire.AddWatchRecursive
		if k.watch != nil {
			k.persistent = &persistent{path: k.path, server: k.server, tree: k.op == drivers.OpWatchTree, call: k.watch}
			p.persistent = append(p.persistent, k.persistent)
		}
	} else if p.asking == 0 && len(p.persistent) == 0 {
		delete(t.places, k.server)
	}
	t.mu.Unlock()
	if ended && k.persistent != nil {
		k.persistent.notify(drivers.Event{Type: drivers.Lost, Path: k.path})
	}
}

// forget reports whether the watch was the last one on its path.
func (t *watches) forget(w *persistent) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.places[w.server]
	if p == nil {
		return false
	}
	p.persistent = slices.DeleteFunc(p.persistent, func(o *persistent) bool { return o == w })
	return len(p.persistent) == 0
}

// vacate removes a place that no persistent watch needs, and reports whether it did. The place
// stays while other watches are armed there: the request would disarm those too.
func (t *watches) vacate(path string) bool {
	p := t.places[path]
	if p == nil || len(p.persistent) > 0 || p.asking > 0 || t.armed[path] != nil {
		return false
	}
	delete(t.places, path)
	if t.removing == nil {
		t.removing = make(map[string]int)
	}
	t.removing[path]++
	return true
}

func (t *watches) removed(path string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.removing[path]--; t.removing[path] == 0 {
		delete(t.removing, path)
	}
}

// maxRearm is the approximate limit in bytes of the paths in one request: a server accepts no
// packet of more than a megabyte.
const maxRearm = 128 << 10

// rearm returns the requests that arm the session's watches on a new connection. Watches whose
// nodes have changed since the position fire immediately.
func (c *Conn) rearm(position int64) []*call {
	requests, persistent := c.watches.rearm(position)
	all := make([]*call, len(requests))
	for i, r := range requests {
		q := request{op: drivers.OpRearm, code: wire.OpSetWatches, data: r.SetWatchesRequest.Append(nil), parts: r.Parts()}
		if persistent {
			q.code, q.data = wire.OpSetWatches2, r.Append(nil)
		}
		all[i] = c.newCall(q)
		all[i].server, all[i].last = "", i == len(requests)-1
	}
	return all
}

// leave records that there is no connection: persistent watches get no events until they are
// armed again.
func (t *watches) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.away = true
}

// rearm returns the requests, and whether they arm persistent watches.
func (t *watches) rearm(position int64) (requests []*wire.SetWatches2Request, persistent bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var r *wire.SetWatches2Request
	size := maxRearm
	next := func(path string) *wire.SetWatches2Request {
		if size += wire.LengthSize + len(path); size > maxRearm {
			r, size = &wire.SetWatches2Request{}, 0
			r.RelativeZxid = position
			requests = append(requests, r)
		}
		return r
	}
	for path, first := range t.armed {
		var kinds wire.WatchKind
		for w := first; w != nil; w = w.next {
			kinds |= w.kind
		}
		addOnce(next(path), path, kinds)
	}
	for path, p := range t.places {
		if len(p.persistent) == 0 {
			delete(t.places, path) // watches that relied on it are armed on their own from now on
			continue
		}
		persistent = true
		addLasting(next(path), path, p)
	}
	t.away = persistent
	return requests, persistent
}

func addOnce(r *wire.SetWatches2Request, path string, kinds wire.WatchKind) {
	if kinds&wire.DataWatch != 0 {
		r.Data = append(r.Data, path)
	}
	if kinds&wire.ExistWatch != 0 {
		r.Exist = append(r.Exist, path)
	}
	if kinds&wire.ChildWatch != 0 {
		r.Child = append(r.Child, path)
	}
}

// addLasting adds a place to the request, and sets what the place will be when it is answered.
func addLasting(r *wire.SetWatches2Request, path string, p *place) {
	p.tree = false
	for _, w := range p.persistent {
		p.tree = p.tree || w.tree
	}
	if p.deep = p.tree; p.deep {
		r.Recursive = append(r.Recursive, path)
	} else {
		r.Persistent = append(r.Persistent, path)
	}
}

// rearmed notifies the persistent watches that all watches are armed again.
func (t *watches) rearmed() {
	t.mu.Lock()
	t.away = false
	var all []*persistent
	for _, p := range t.places {
		all = append(all, p.persistent...)
	}
	t.mu.Unlock()
	for _, w := range all {
		w.notify(drivers.Event{Type: drivers.Rearmed, Path: w.path})
	}
}
