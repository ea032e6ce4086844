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

// A place is a path on the server with a lasting watch there, which servers keep
// one of for each path of a connection. As long as there is one, further watches
// on the path are not armed at the server: before 3.9 that would disarm it when
// they fire. What it tells is told to all.
//
// A recursive one does not tell that a node's children have changed, since it
// tells of the children; that is translated where somebody wants to know.
type place struct {
	lasting []*lasting
	asking  int  // calls on their way
	tree    bool // the last one asked for a recursive watch
	deep    bool // the server has a recursive watch
}

// lasting is one armed drivers.Watch that stays armed.
type lasting struct {
	path   string // as the caller knows it
	server string
	tree   bool

	mu      sync.Mutex // held while it is called
	call    drivers.Watch
	stopped bool
}

// tell calls the watch, unless it has been stopped.
func (w *lasting) tell(e drivers.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.stopped {
		w.stopped = e.Type == drivers.Lost
		w.call(e)
	}
}

// WatchNode arms a watch on one node.
func (c *Conn) WatchNode(ctx context.Context, path string, w drivers.Watch) (stop func(), err error) {
	return c.lasting(ctx, request{op: drivers.OpWatchNode, code: wire.OpAddWatch, path: path, watch: w})
}

// WatchTree arms a watch on a node and all that is or will be below it.
func (c *Conn) WatchTree(ctx context.Context, path string, w drivers.Watch) (stop func(), err error) {
	return c.lasting(ctx, request{op: drivers.OpWatchTree, code: wire.OpAddWatch, path: path, watch: w})
}

func (c *Conn) lasting(ctx context.Context, r request) (stop func(), err error) {
	k, err := c.do(ctx, r)
	if err != nil {
		return nil, unknown(err)
	}
	defer c.free(k)
	w := k.lasting
	return func() { c.stop(w) }, nil
}

// unknown explains the error of a server that does not know lasting watches.
func unknown(err error) error {
	if errors.Is(err, drivers.ErrUnsupported) {
		return fmt.Errorf("%w: persistent watches take ZooKeeper 3.6 or newer", err)
	}
	return err
}

// stop ends a lasting watch, at the server too if nobody needs it there.
func (c *Conn) stop(w *lasting) {
	w.mu.Lock()
	w.stopped = true
	w.mu.Unlock()
	if l := c.line.Load(); c.watches.forget(w) && l != nil {
		l.post(c.newCall(request{op: drivers.OpOther, code: wire.OpRemoveWatches, path: w.path}))
	}
}

// occupy notes that a call asks for a lasting watch, and of which mode.
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

// agreed keeps the watch of a call that succeeded and was not given up.
func (t *watches) agreed(k *call) {
	t.mu.Lock()
	p := t.places[k.server]
	p.asking--
	ended := t.ended
	if k.err == nil && k.answer == wire.OK {
		p.deep = k.version == wire.AddWatchRecursive
		if k.watch != nil {
			k.lasting = &lasting{path: k.path, server: k.server, tree: k.op == drivers.OpWatchTree, call: k.watch}
			p.lasting = append(p.lasting, k.lasting)
		}
	} else if p.asking == 0 && len(p.lasting) == 0 {
		delete(t.places, k.server)
	}
	t.mu.Unlock()
	if ended && k.lasting != nil {
		k.lasting.tell(drivers.Event{Type: drivers.Lost, Path: k.path})
	}
}

// forget tells whether the watch was the last one on its path.
func (t *watches) forget(w *lasting) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.places[w.server]
	if p == nil {
		return false
	}
	p.lasting = slices.DeleteFunc(p.lasting, func(o *lasting) bool { return o == w })
	return len(p.lasting) == 0
}

// vacate gives a path up that nobody needs to be watched for good, and tells
// whether there was one. As long as something else is armed there it stays: both
// would be disarmed.
func (t *watches) vacate(path string) bool {
	p := t.places[path]
	if p == nil || len(p.lasting) > 0 || p.asking > 0 || t.armed[path] != nil {
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
