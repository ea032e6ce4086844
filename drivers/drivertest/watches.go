package drivertest

import (
	"context"
	"fmt"

	"github.com/stampede-bench/stampede/drivers"
)

func watches() []testCase {
	return []testCase{
		{"exists", "an Exists watch fires when the node is created, changed or deleted: it wakes a client that waits for its predecessor or at a barrier", watchExists},
		{"get", "a Get watch fires when the node is changed or deleted: a client that reads settings learns of the next ones", watchGet},
		{"children", "a Children watch fires when a child is created or deleted and when the node is deleted: members learn of each other", watchChildren},
		{"of the others", "a watch fires for changes by other sessions and by its own session", watchOthers},
		{"only what it covers", "a watch does not fire for changes that it does not cover: data changes of a child, children of a watched node, grandchildren, neighbours; each would be a wasted wake-up", watchCovers},
		{"once", "a watch fires once, for the first change, and is then gone: a second call would end a later wait", watchOnce},
		{"re-armed", "a watch that is armed again after each change sees every change, in order: recipes wait in such a loop", watchRearmed},
		{"not what was read", "a change that the read returned does not fire its watch: the client would be woken without need, and miss the next change", watchNotRead},
		{"missing arms nothing", "Get and Children of a missing node fail with ErrNoNode, and their watches are never called, not even when the node is created", watchMissing},
		{"deleted and made anew", "the watch of a node that is deleted and created again fires only for the deletion", watchRecreated},
		{"several on one path", "every watch on a path is called, even several of one session and kind: two recipes may wait on one node", watchSeveral},
		{"many", "each of many watches is called for its own node", watchMany},
		{"position", "an event has the position of its write or 0, never that of another write: fan-out is attributed by it", watchPosition},
	}
}

// A step arms a watch by a read, makes a change and says which event the watch must get.
type step struct {
	what string
	arm  func(ctx context.Context, c *client, path string, w drivers.Watch)
	do   func(ctx context.Context, c *client, path string)
	want drivers.EventType // 0 if the watch does not cover the change
}

func byExists(ctx context.Context, c *client, path string, w drivers.Watch) { c.exists(ctx, path, w) }
func byGet(ctx context.Context, c *client, path string, w drivers.Watch)    { c.get(ctx, path, w) }
func byList(ctx context.Context, c *client, path string, w drivers.Watch)   { c.children(ctx, path, w) }

func create(ctx context.Context, c *client, path string) { c.create(ctx, path, "", 0) }
func set(ctx context.Context, c *client, path string)    { c.set(ctx, path, "changed") }
func remove(ctx context.Context, c *client, path string) { c.remove(ctx, path) }

// belowChild returns do for a child of the path.
func belowChild(do func(context.Context, *client, string)) func(context.Context, *client, string) {
	return func(ctx context.Context, c *client, path string) { do(ctx, c, path+"/child") }
}

// walk takes one node through the steps. After each step it checks the watch's events,
// when a flush has shown that no more will come.
func walk(ctx context.Context, x *trial, watcher, writer *client, steps []step) {
	x.Helper()
	path := x.path("a")
	for _, s := range steps {
		l := listen()
		watcher.sync(ctx)
		s.arm(ctx, watcher, path, l.hear)
		s.do(ctx, writer, path)
		if s.want == 0 {
			watcher.flush(ctx)
			x.expectCalls(l, s.what)
			continue
		}
		e := x.hears(ctx, l, s.want, path)
		watcher.flush(ctx)
		x.expectCalls(l, s.what, e.Type)
	}
}

func watchExists(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{})
	walk(ctx, x, c, c, []step{
		{"exists of a missing node, created", byExists, create, drivers.Created},
		{"exists, data set", byExists, set, drivers.DataChanged},
		{"exists, deleted", byExists, remove, drivers.Deleted},
	})
}

func watchGet(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{})
	c.create(ctx, x.path("a"), "", 0)
	walk(ctx, x, c, c, []step{
		{"get, data set", byGet, set, drivers.DataChanged},
		{"get, same data set again", byGet, set, drivers.DataChanged},
		{"get, deleted", byGet, remove, drivers.Deleted},
	})
}

func watchChildren(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{})
	c.create(ctx, x.path("a"), "", 0)
	walk(ctx, x, c, c, []step{
		{"children, child created", byList, belowChild(create), drivers.ChildrenChanged},
		{"children, child deleted", byList, belowChild(remove), drivers.ChildrenChanged},
		{"children, node deleted", byList, remove, drivers.Deleted},
	})
}

func watchOthers(ctx context.Context, x *trial) {
	writer, watcher := x.pair(ctx)
	walk(ctx, x, watcher, writer, []step{
		{"exists of a missing node, created", byExists, create, drivers.Created},
		{"exists, data set", byExists, set, drivers.DataChanged},
		{"get, data set", byGet, set, drivers.DataChanged},
		{"children, child created", byList, belowChild(create), drivers.ChildrenChanged},
		{"children, child deleted", byList, belowChild(remove), drivers.ChildrenChanged},
		{"get, deleted", byGet, remove, drivers.Deleted},
	})
}

func watchCovers(ctx context.Context, x *trial) {
	writer, watcher := x.pair(ctx)
	writer.create(ctx, x.path("a"), "", 0)
	neighbour := func(ctx context.Context, c *client, path string) { c.create(ctx, path+"b", "", 0) }
	walk(ctx, x, watcher, writer, []step{
		{"exists, neighbour created", byExists, neighbour, 0},
		{"exists, child created", byExists, belowChild(create), 0},
		{"get, child's data set", byGet, belowChild(set), 0},
		{"children, child's data set", byList, belowChild(set), 0},
		{"children, node's own data set", byList, set, 0},
		{"children, grandchild created", byList, belowChild(belowChild(create)), 0},
		{"children, grandchild deleted", byList, belowChild(belowChild(remove)), 0},
		{"get, child deleted", byGet, belowChild(remove), 0},
	})
}

func watchOnce(ctx context.Context, x *trial) {
	writer, watcher := x.pair(ctx)
	writer.create(ctx, x.path("a"), "", 0)
	watcher.sync(ctx)
	data, children := listen(), listen()
	watcher.get(ctx, x.path("a"), data.hear)
	watcher.children(ctx, x.path("a"), children.hear)
	for i := range 5 {
		writer.set(ctx, x.path("a"), fmt.Sprint(i))
		writer.create(ctx, x.path("a", fmt.Sprint(i)), "", 0)
	}
	watcher.flush(ctx)
	x.expectCalls(data, "get, data set five times", drivers.DataChanged)
	x.expectCalls(children, "children, five created", drivers.ChildrenChanged)
	watcher.close()
	x.expectCalls(data, "a watch that had fired, after the session's end", drivers.DataChanged)
}

func watchRearmed(ctx context.Context, x *trial) {
	writer, watcher := x.pair(ctx)
	writer.create(ctx, x.path("a"), "", 0)
	watcher.sync(ctx)
	for i := range int32(20) {
		l := listen()
		if _, stat := watcher.get(ctx, x.path("a"), l.hear); stat.Version != i {
			x.Fatalf("after %d changes were told the node has version %d", i, stat.Version)
		}
		writer.set(ctx, x.path("a"), "changed")
		x.hears(ctx, l, drivers.DataChanged, x.path("a"))
	}
}

func watchNotRead(ctx context.Context, x *trial) {
	writer, watcher := x.pair(ctx)
	writer.create(ctx, x.path("a"), "", 0)
	for i := range 20 {
		writer.set(ctx, x.path("a"), "changed")
		writer.create(ctx, x.path("a", fmt.Sprint(i)), "", 0)
		watcher.sync(ctx)
		data, presence, children := listen(), listen(), listen()
		watcher.get(ctx, x.path("a"), data.hear)
		watcher.exists(ctx, x.path("a", fmt.Sprint(i)), presence.hear)
		watcher.children(ctx, x.path("a"), children.hear)
		watcher.flush(ctx)
		x.expectCalls(data, "get after the set")
		x.expectCalls(presence, "exists after the creation")
		x.expectCalls(children, "children after the creation")
	}
}

func watchMissing(ctx context.Context, x *trial) {
	writer, watcher := x.pair(ctx)
	data, children := listen(), listen()
	_, _, err := watcher.Get(ctx, x.path("a"), data.hear)
	x.wants("get of a missing node", err, drivers.ErrNoNode)
	_, err = watcher.Children(ctx, x.path("a"), children.hear)
	x.wants("children of a missing node", err, drivers.ErrNoNode)
	writer.create(ctx, x.path("a"), "", 0)
	writer.set(ctx, x.path("a"), "changed")
	writer.create(ctx, x.path("a", "b"), "", 0)
	watcher.flush(ctx)
	watcher.close()
	x.expectCalls(data, "get of a missing node")
	x.expectCalls(children, "children of a missing node")
}

func watchRecreated(ctx context.Context, x *trial) {
	writer, watcher := x.pair(ctx)
	writer.create(ctx, x.path("a"), "", 0)
	watcher.sync(ctx)
	presence, data, children := listen(), listen(), listen()
	watcher.exists(ctx, x.path("a"), presence.hear)
	watcher.get(ctx, x.path("a"), data.hear)
	watcher.children(ctx, x.path("a"), children.hear)
	writer.remove(ctx, x.path("a"))
	writer.create(ctx, x.path("a"), "", 0)
	writer.set(ctx, x.path("a"), "changed")
	writer.create(ctx, x.path("a", "b"), "", 0)
	watcher.flush(ctx)
	x.expectCalls(presence, "exists, deleted and made anew", drivers.Deleted)
	x.expectCalls(data, "get, deleted and made anew", drivers.Deleted)
	x.expectCalls(children, "children, deleted and made anew", drivers.Deleted)
}

func watchSeveral(ctx context.Context, x *trial) {
	writer, watcher := x.pair(ctx)
	writer.create(ctx, x.path("a"), "", 0)
	watcher.sync(ctx)
	var all []*listener
	arm := func(by func(context.Context, *client, string, drivers.Watch)) {
		l := listen()
		by(ctx, watcher, x.path("a"), l.hear)
		all = append(all, l)
	}
	for range 3 {
		arm(byGet)
		arm(byExists)
		arm(byList)
	}
	writer.remove(ctx, x.path("a"))
	for _, l := range all {
		x.hears(ctx, l, drivers.Deleted, x.path("a"))
	}
	watcher.flush(ctx)
	for _, l := range all {
		x.expectCalls(l, "one of nine watches on one path", drivers.Deleted)
	}
}

func watchMany(ctx context.Context, x *trial) {
	const n = 300
	writer, watcher := x.pair(ctx)
	data, presence := make([]*listener, n), make([]*listener, n)
	for i := range n {
		name := fmt.Sprint(i)
		data[i], presence[i] = listen(), listen()
		watcher.exists(ctx, x.path("later-"+name), presence[i].hear)
		writer.create(ctx, x.path(name), "", 0)
		watcher.sync(ctx)
		watcher.get(ctx, x.path(name), data[i].hear)
	}
	for i := range n {
		writer.set(ctx, x.path(fmt.Sprint(i)), "changed")
		writer.create(ctx, x.path(fmt.Sprint("later-", i)), "", 0)
	}
	for i := range n {
		x.hears(ctx, data[i], drivers.DataChanged, x.path(fmt.Sprint(i)))
		x.hears(ctx, presence[i], drivers.Created, x.path(fmt.Sprint("later-", i)))
	}
}

func watchPosition(ctx context.Context, x *trial) {
	writer, watcher := x.pair(ctx)
	writer.create(ctx, x.path("a"), "", 0)
	watcher.sync(ctx)
	for range 5 {
		l := listen()
		watcher.get(ctx, x.path("a"), l.hear)
		stat := writer.set(ctx, x.path("a"), "changed")
		writer.create(ctx, x.path("n-"), "", drivers.Sequential)
		e := x.hears(ctx, l, drivers.DataChanged, x.path("a"))
		if e.Pos != 0 && e.Pos != stat.Modified {
			x.Errorf("the event has position %d, its write has %d", e.Pos, stat.Modified)
		}
	}
	l := listen()
	watcher.get(ctx, x.path("a"), l.hear)
	watcher.close()
	if e := x.hears(ctx, l, drivers.Lost, ""); e.Pos != 0 {
		x.Errorf("the end of the session has position %d, want 0", e.Pos)
	}
}
