package drivertest

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// A fakeKeep is what a persistent watch covers.
type fakeKeep struct {
	*fakeWatch
	path    string
	tree    bool
	resumes bool
}

func (c *fakeConn) WatchNode(ctx context.Context, p string, w drivers.Watch) (func(), error) {
	return c.keep(ctx, drivers.OpWatchNode, &fakeKeep{path: p}, w)
}

func (c *fakeConn) WatchTree(ctx context.Context, p string, w drivers.Watch) (func(), error) {
	return c.keep(ctx, drivers.OpWatchTree, &fakeKeep{path: p, tree: true}, w)
}

func (c *fakeConn) ResumeTree(ctx context.Context, p string, w drivers.Watch) (func(), error) {
	return c.keep(ctx, drivers.OpWatchTree, &fakeKeep{path: p, tree: true, resumes: true}, w)
}

func (c *fakeConn) keep(ctx context.Context, op drivers.Op, k *fakeKeep, w drivers.Watch) (func(), error) {
	p := k.path
	err := c.call(ctx, drivers.Message{Op: op, Path: []byte(p)}, w, func() answer {
		if c.f.bug == keepsExisting && c.f.nodes[p] == nil {
			return answer{err: drivers.ErrNoNode}
		}
		return answer{keeps: k}
	})
	if err != nil && c.f.bug == keepsDead && k.fakeWatch != nil {
		c.revive([]*fakeWatch{k.fakeWatch})
	}
	if c.f.bug == keepsWithinCall {
		context.AfterFunc(ctx, func() { c.stop(k) })
	}
	return func() { c.stop(k) }, err
}

// revive arms watches that have ended.
func (c *fakeConn) revive(watches []*fakeWatch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range watches {
		w.armed = true
	}
}

// enter adds the watch to the service's table. The caller holds f.mu.
func (f *fake) enter(k *fakeKeep, w *fakeWatch) {
	k.fakeWatch = w
	w.stays = f.bug != keepsOnce
	switch f.bug {
	case keepsLate:
		go func() {
			f.pause(20 * time.Microsecond)
			f.mu.Lock()
			defer f.mu.Unlock()
			f.keeps = append(f.keeps, k)
		}()
		return
	case keepsOne:
		f.keeps = slices.DeleteFunc(f.keeps, func(o *fakeKeep) bool { return o.conn == k.conn && o.path == k.path })
	case keepingEndsReads:
		delete(f.watches, fakeTable{k.path, false})
	}
	f.keeps = append(f.keeps, k)
}

// stop ends the watch. When stop returns, no goroutine is calling the watch.
func (c *fakeConn) stop(k *fakeKeep) {
	f := c.f
	f.mu.Lock()
	f.keeps = slices.DeleteFunc(f.keeps, func(o *fakeKeep) bool {
		return f.bug != stopStopsNothing && f.bug != rearmsStopped && o == k || f.bug == stopStopsAll && o.path == k.path
	})
	f.mu.Unlock()
	c.firing.Lock()
	defer c.firing.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if k.fakeWatch == nil {
		return
	}
	k.armed = f.bug == stopStopsNothing
	if f.bug == stopTellsLost {
		go k.fire(drivers.Event{Type: drivers.Lost})
	}
}

// covers reports whether the watch gets an event at a node.
func (k *fakeKeep) covers(t drivers.EventType, p string, b bug) bool {
	below, under := strings.CutPrefix(p, k.path+"/")
	depth := strings.Count(below, "/") + 1
	switch {
	case !k.tree && b == nodeCoversTree:
		return p == k.path || under
	case !k.tree || p == k.path && t != drivers.ChildrenChanged:
		return p == k.path
	case t == drivers.ChildrenChanged:
		return b == treeTellsChildren && (under || p == k.path)
	case b == treeByPrefix:
		return strings.HasPrefix(p, k.path)
	}
	return under && (depth == 1 || b != treeIsFlat) && (depth < 9 || b != treeEndsSomewhere)
}

// kept returns the persistent watches that an event fires. The caller holds f.mu.
func (f *fake) kept(t drivers.EventType, table fakeTable, writer *fakeConn) (told []*fakeKeep) {
	if t == drivers.Deleted && table.children {
		return nil // reported with the data's table
	}
	for _, k := range f.keeps {
		switch {
		case !k.covers(t, table.path, f.bug):
		case f.bug == keepsOthersOnly && k.conn == writer:
		case f.bug == keepsMerged && k.conn.hasEvent():
		default:
			told = append(told, k)
		}
	}
	return told
}

// hasEvent reports whether the inbox has an event.
func (c *fakeConn) hasEvent() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.inbox, func(p packet) bool { return p.event.Type != 0 })
}

// rearm calls the persistent watches that do not resume with Rearmed, because the session is
// connected again. The events of the meantime are in the inbox before that.
func (c *fakeConn) rearm() {
	f := c.f
	f.mu.Lock()
	defer f.mu.Unlock()
	var mine, told []*fakeWatch
	for _, k := range f.keeps {
		if k.conn != c {
			continue
		}
		mine = append(mine, k.fakeWatch)
		if !k.resumes || f.bug == resumesAnew {
			told = append(told, k.fakeWatch)
		}
	}
	switch f.bug {
	case rearmsNothing:
		f.keeps = slices.DeleteFunc(f.keeps, func(k *fakeKeep) bool { return k.conn == c })
	case rearmsAndRepeats:
		c.push(packet{event: c.repeat, watches: mine})
	case rearmsStopped:
		c.revive(mine)
	case rearmsSilently:
		return
	}
	c.push(packet{event: drivers.Event{Type: drivers.Rearmed}, watches: told})
}
