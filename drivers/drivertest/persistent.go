package drivertest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/drivers"
)

func persistent() []testCase {
	return []testCase{
		{"node", "a node's persistent watch reports, once and in order, when the node is created, changed or deleted and when its children are created or deleted, and nothing else: a client can mirror the node by it", keepNode},
		{"tree", "a tree's persistent watch reports, once and in order, when the node or any node below it is created, changed or deleted, and nothing else: a client can mirror the tree by it", keepTree},
		{"all depths", "a tree has no lowest level: a watch with a depth limit would miss nodes created below it", keepDepths},
		{"not there yet", "neither the node nor its parent needs to exist when it is watched: no client has to wait for it first", keepMissing},
		{"own changes", "a persistent watch reports its own session's writes too: a client that mirrors a node need not apply its own writes", keepOwn},
		{"every change", "changes by several sessions that write at the same time are reported once each, in the order in which they happened: a client can apply them as differences", keepEvery},
		{"armed when it returns", "no change is missed that a read after the call does not show, however many happen while the watch is being armed: a mirror starts with a watch and then a read", keepRaces},
		{"stop", "once stop has returned the watch is no longer called, not even when the session ends, and other watches on the node stay armed; stopping twice or late is harmless", keepStopped},
		{"several on one path", "every persistent watch is called, even several of one session on one node and of both kinds, and if one covers another's node", keepSeveral},
		{"beside one-shot", "a one-shot watch and a persistent one of the same session on the same node are both called for what they cover, whichever was armed first: two recipes may share a session", keepBeside},
		{"position", "an event has the position of its write or 0, never that of another write: fan-out is attributed by it", keepPosition},
		{"probe", "a Probe sees the arming as one request and one reply with an Op of their own, and each change as a notification before the watch is called: notifications are counted there", keepProbe},
		{"flush proves", "when Flush returns nil, persistent watches have reported every write that was acknowledged before", keepFlushed},
	}
}

// A turn is a change, and the events that the persistent watches on the node a get for
// it; 0 if they do not cover it.
type turn struct {
	do         func(ctx context.Context, c *client, path string)
	name       string
	node, tree drivers.EventType
}

func turns() []turn {
	return []turn{
		{create, "a", drivers.Created, drivers.Created},
		{set, "a", drivers.DataChanged, drivers.DataChanged},
		{set, "a", drivers.DataChanged, drivers.DataChanged}, // with the same data
		{create, "ab", 0, 0},
		{create, "ab/c", 0, 0},
		{create, "a/b", drivers.ChildrenChanged, drivers.Created},
		{create, "a/c", drivers.ChildrenChanged, drivers.Created},
		{set, "a/b", 0, drivers.DataChanged},
		{create, "a/b/c", 0, drivers.Created},
		{create, "a/b/c/d", 0, drivers.Created},
		{set, "a/b/c/d", 0, drivers.DataChanged},
		{set, "ab/c", 0, 0},
		{remove, "a/b/c/d", 0, drivers.Deleted},
		{remove, "a/b/c", 0, drivers.Deleted},
		{remove, "a/b", drivers.ChildrenChanged, drivers.Deleted},
		{remove, "a/c", drivers.ChildrenChanged, drivers.Deleted},
		{remove, "a", drivers.Deleted, drivers.Deleted},
		{create, "a", drivers.Created, drivers.Created},
		{set, "a", drivers.DataChanged, drivers.DataChanged},
	}
}

// take makes the changes and returns the events that the watches must get for them.
func take(ctx context.Context, c *client) (node, tree []string) {
	for _, t := range turns() {
		t.do(ctx, c, c.x.path(t.name))
		if t.node != 0 {
			node = append(node, t.node.String()+" a")
		}
		if t.tree != 0 {
			tree = append(tree, t.tree.String()+" "+t.name)
		}
	}
	return node, tree
}

func keepNode(ctx context.Context, x *trial) {
	writer, watcher := x.pair(ctx)
	v := watcher.watch(ctx, onNode, x.path("a"))
	node, _ := take(ctx, writer)
	watcher.flush(ctx)
	x.expectEvents(v, node...)
}

func keepTree(ctx context.Context, x *trial) {
	writer, watcher := x.pair(ctx)
	v := watcher.watch(ctx, onTree, x.path("a"))
	_, tree := take(ctx, writer)
	watcher.flush(ctx)
	x.expectEvents(v, tree...)
}

func keepDepths(ctx context.Context, x *trial) {
	writer, watcher := x.pair(ctx)
	writer.create(ctx, x.path("a"), "", 0)
	v := watcher.watch(ctx, onTree, x.path("a"))
	var want []string
	for name := "a/b"; len(name) < 40; name += "/b" {
		writer.create(ctx, x.path(name), "", 0)
		writer.set(ctx, x.path(name), "changed")
		want = append(want, "created "+name, "data changed "+name)
	}
	watcher.flush(ctx)
	x.expectEvents(v, want...)
}

func keepMissing(ctx context.Context, x *trial) {
	writer, watcher := x.pair(ctx)
	node := watcher.watch(ctx, onNode, x.path("a", "b"))
	tree := watcher.watch(ctx, onTree, x.path("a", "b"))
	for _, name := range []string{"a", "a/b", "a/b/c"} {
		writer.create(ctx, x.path(name), "", 0)
	}
	watcher.flush(ctx)
	x.expectEvents(node, "created a/b", "children changed a/b")
	x.expectEvents(tree, "created a/b", "created a/b/c")
}

func keepOwn(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{})
	onA, belowA := c.watch(ctx, onNode, x.path("a")), c.watch(ctx, onTree, x.path("a"))
	node, tree := take(ctx, c)
	c.flush(ctx)
	x.expectEvents(onA, node...)
	x.expectEvents(belowA, tree...)
}

func keepStopped(ctx context.Context, x *trial) {
	writer, watcher := x.pair(ctx)
	writer.create(ctx, x.path("a"), "", 0)
	for _, by := range []armFunc{onNode, onTree} {
		stopped, stays := watcher.watch(ctx, by, x.path("a")), watcher.watch(ctx, by, x.path("a"))
		writer.set(ctx, x.path("a"), "changed")
		watcher.flush(ctx)
		stopped.stop()
		stopped.stop()
		writer.set(ctx, x.path("a"), "changed")
		watcher.flush(ctx)
		x.expectEvents(stopped, "data changed a")
		x.expectEvents(stays, "data changed a", "data changed a")
		stays.stop()
	}
	early, late := watcher.watch(ctx, onNode, x.path("a")), watcher.watch(ctx, onNode, x.path("a"))
	early.stop()
	watcher.close()
	x.expectEvents(early)
	x.expectEvents(late, "lost")
	late.stop()
	early.stop()
}

func keepSeveral(ctx context.Context, x *trial) {
	writer, watcher := x.pair(ctx)
	var onA, belowA []*persistentWatch
	for range 3 {
		onA = append(onA, watcher.watch(ctx, onNode, x.path("a")))
		belowA = append(belowA, watcher.watch(ctx, onTree, x.path("a")))
	}
	above, onB, belowB := watcher.watch(ctx, onTree, x.base), watcher.watch(ctx, onNode, x.path("a", "b")), watcher.watch(ctx, onTree, x.path("a", "b"))
	for _, name := range []string{"a", "a/b", "a/b/c"} {
		writer.create(ctx, x.path(name), "", 0)
	}
	watcher.flush(ctx)
	for i := range onA {
		x.expectEvents(onA[i], "created a", "children changed a")
		x.expectEvents(belowA[i], "created a", "created a/b", "created a/b/c")
	}
	x.expectEvents(above, "created a", "created a/b", "created a/b/c")
	x.expectEvents(onB, "created a/b", "children changed a/b")
	x.expectEvents(belowB, "created a/b", "created a/b/c")
}

func keepBeside(ctx context.Context, x *trial) {
	writer, watcher := x.pair(ctx)
	writer.create(ctx, x.path("a"), "", 0)
	watcher.sync(ctx)
	before, list := listen(), listen()
	watcher.get(ctx, x.path("a"), before.hear)
	watcher.children(ctx, x.path("a"), list.hear)
	node, tree := watcher.watch(ctx, onNode, x.path("a")), watcher.watch(ctx, onTree, x.path("a"))
	after := listen()
	watcher.exists(ctx, x.path("a"), after.hear)
	for range 2 {
		writer.set(ctx, x.path("a"), "changed")
	}
	writer.create(ctx, x.path("a", "b"), "", 0)
	writer.remove(ctx, x.path("a", "b"))
	watcher.flush(ctx)
	x.expectCalls(before, "get, armed before the persistent watch", drivers.DataChanged)
	x.expectCalls(list, "children, armed before the persistent watch", drivers.ChildrenChanged)
	x.expectCalls(after, "exists, armed after the persistent watch", drivers.DataChanged)
	x.expectEvents(node, "data changed a", "data changed a", "children changed a", "children changed a")
	x.expectEvents(tree, "data changed a", "data changed a", "created a/b", "deleted a/b")
}

func keepPosition(ctx context.Context, x *trial) {
	writer, watcher := x.pair(ctx)
	writer.create(ctx, x.path("a"), "", 0)
	node, tree := watcher.watch(ctx, onNode, x.path("a")), watcher.watch(ctx, onTree, x.path("a"))
	var written []int64
	for range 5 {
		written = append(written, writer.set(ctx, x.path("a"), "changed").Modified)
		writer.create(ctx, x.path("n-"), "", drivers.Sequential)
	}
	watcher.flush(ctx)
	for _, v := range []*persistentWatch{node, tree} {
		events, _ := v.events()
		if len(events) != len(written) {
			x.Fatalf("%s got %q for five changes", v.what, x.words(events))
		}
		for i, e := range events {
			if e.Pos != 0 && e.Pos != written[i] {
				x.Errorf("the event has position %d, its write has %d", e.Pos, written[i])
			}
		}
	}
}

func keepProbe(ctx context.Context, x *trial) {
	for _, k := range []struct {
		by   armFunc
		op   drivers.Op
		told drivers.EventType // for a child's creation
		path string
	}{
		{onNode, drivers.OpWatchNode, drivers.ChildrenChanged, x.base},
		{onTree, drivers.OpWatchTree, drivers.Created, x.path("a")},
	} {
		t := newRecording()
		writer := x.dial(ctx, drivers.Options{})
		watcher := x.dial(ctx, drivers.Options{Probe: t})
		v := watcher.watch(ctx, k.by, x.base)
		writer.create(ctx, x.path("a"), "", 0)
		writer.set(ctx, x.base, "changed")
		watcher.flush(ctx)
		x.expectEvents(v, k.told.String()+" "+x.short(k.path), "data changed "+x.base)
		x.saw("the probe", t.all(requestOf(k.op)), []exchange{{op: k.op, path: x.base, watch: true}}, exchange.askedBy)
		x.saw("the probe", t.all(replyTo(k.op)), []exchange{{op: k.op, path: x.base, watch: true}}, exchange.repliedBy)
		x.sawTold(t.all(ofKind(drivers.Notification)), drivers.Event{Type: k.told, Path: k.path}, drivers.Event{Type: drivers.DataChanged, Path: x.base})
		writer.remove(ctx, x.path("a"))
	}
}

// sawTold checks the notifications on the wire. The server may know the nodes by
// longer paths.
func (x *trial) sawTold(messages []drivers.Message, want ...drivers.Event) {
	x.Helper()
	var got []drivers.Event
	for _, m := range messages {
		got = append(got, drivers.Event{Type: m.Event, Path: string(m.Path)})
	}
	same := func(got, want drivers.Event) bool {
		return got.Type == want.Type && strings.HasSuffix(got.Path, want.Path)
	}
	if !slices.EqualFunc(got, want, same) {
		x.Errorf("the probe saw the notifications %v, want %v", got, want)
	}
}

func keepFlushed(ctx context.Context, x *trial) {
	writer, watcher := x.pair(ctx)
	node, tree := watcher.watch(ctx, onNode, x.base), watcher.watch(ctx, onTree, x.base)
	var wantNode, wantTree []string
	for i := range 100 {
		name := fmt.Sprint(i)
		writer.create(ctx, x.path(name), "", 0)
		watcher.flush(ctx)
		wantNode, wantTree = append(wantNode, "children changed "+x.base), append(wantTree, "created "+name)
		x.expectEvents(node, wantNode...)
		x.expectEvents(tree, wantTree...)
	}
}
