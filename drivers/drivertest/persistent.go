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
		{"node", "a node's persistent watch is told, once and in order, of the node's coming, going and data and of its children's coming and going, and of nothing else: a mirror of the node is kept by it", keepNode},
		{"tree", "a tree's persistent watch is told, once and in order, of the coming, going and data of the node and of all below it, and of nothing else: a mirror of the tree is kept by it", keepTree},
		{"all depths", "a tree has no lowest level: a watch that ends somewhere would miss what is made below", keepDepths},
		{"not there yet", "neither the node nor its parent needs to be there when it is watched: nobody has to wait for it first", keepMissing},
		{"own changes", "a persistent watch is told of what its session does as well: who mirrors need not enter its own writes", keepOwn},
		{"every change", "every change of several sessions that write at the same time is told once, and in the order in which they happened: differences can be applied", keepEvery},
		{"armed when it returns", "no change that a read after the call does not show is missed, however many are made while the watch is armed: watch, then read, is how a mirror begins", keepRaces},
		{"stop", "when stop has returned the watch is not called any more, also not with the session's end, and others on the same node go on; stopping twice or late is harmless", keepStopped},
		{"several on one path", "every persistent watch is called, also several of one session on one node and of both kinds, and where one covers another's node", keepSeveral},
		{"beside one-shot", "a one-shot watch and a persistent one of the same session on the same node are both called for what they cover, whichever was armed first: two recipes may share a session", keepBeside},
		{"position", "an event says the position of its write or 0, never another's: fan-out is attributed by it", keepPosition},
		{"probe", "a Probe sees the arming as one request and one reply, in words of its own, and each change as a notification before the watch is called: the herd is counted there", keepProbe},
		{"fence proves", "when Fence returns nil, persistent watches have been told of every write that was acknowledged before", keepFenced},
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
	watcher.fence(ctx)
	x.told(v, node...)
}

func keepTree(ctx context.Context, x *trial) {
	writer, watcher := x.pair(ctx)
	v := watcher.watch(ctx, onTree, x.path("a"))
	_, tree := take(ctx, writer)
	watcher.fence(ctx)
	x.told(v, tree...)
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
	watcher.fence(ctx)
	x.told(v, want...)
}

func keepMissing(ctx context.Context, x *trial) {
	writer, watcher := x.pair(ctx)
	node := watcher.watch(ctx, onNode, x.path("a", "b"))
	tree := watcher.watch(ctx, onTree, x.path("a", "b"))
	for _, name := range []string{"a", "a/b", "a/b/c"} {
		writer.create(ctx, x.path(name), "", 0)
	}
	watcher.fence(ctx)
	x.told(node, "created a/b", "children changed a/b")
	x.told(tree, "created a/b", "created a/b/c")
}

func keepOwn(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{})
	onA, belowA := c.watch(ctx, onNode, x.path("a")), c.watch(ctx, onTree, x.path("a"))
	node, tree := take(ctx, c)
	c.fence(ctx)
	x.told(onA, node...)
	x.told(belowA, tree...)
}

func keepStopped(ctx context.Context, x *trial) {
	writer, watcher := x.pair(ctx)
	writer.create(ctx, x.path("a"), "", 0)
	for _, by := range []keeping{onNode, onTree} {
		stopped, stays := watcher.watch(ctx, by, x.path("a")), watcher.watch(ctx, by, x.path("a"))
		writer.set(ctx, x.path("a"), "changed")
		watcher.fence(ctx)
		stopped.stop()
		stopped.stop()
		writer.set(ctx, x.path("a"), "changed")
		watcher.fence(ctx)
		x.told(stopped, "data changed a")
		x.told(stays, "data changed a", "data changed a")
		stays.stop()
	}
	early, late := watcher.watch(ctx, onNode, x.path("a")), watcher.watch(ctx, onNode, x.path("a"))
	early.stop()
	watcher.close()
	x.told(early)
	x.told(late, "lost")
	late.stop()
	early.stop()
}

func keepSeveral(ctx context.Context, x *trial) {
	writer, watcher := x.pair(ctx)
	var onA, belowA []*vigil
	for range 3 {
		onA = append(onA, watcher.watch(ctx, onNode, x.path("a")))
		belowA = append(belowA, watcher.watch(ctx, onTree, x.path("a")))
	}
	above, onB, belowB := watcher.watch(ctx, onTree, x.base), watcher.watch(ctx, onNode, x.path("a", "b")), watcher.watch(ctx, onTree, x.path("a", "b"))
	for _, name := range []string{"a", "a/b", "a/b/c"} {
		writer.create(ctx, x.path(name), "", 0)
	}
	watcher.fence(ctx)
	for i := range onA {
		x.told(onA[i], "created a", "children changed a")
		x.told(belowA[i], "created a", "created a/b", "created a/b/c")
	}
	x.told(above, "created a", "created a/b", "created a/b/c")
	x.told(onB, "created a/b", "children changed a/b")
	x.told(belowB, "created a/b", "created a/b/c")
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
	watcher.fence(ctx)
	x.heard(before, "get, armed before the persistent watch", drivers.DataChanged)
	x.heard(list, "children, armed before the persistent watch", drivers.ChildrenChanged)
	x.heard(after, "exists, armed after the persistent watch", drivers.DataChanged)
	x.told(node, "data changed a", "data changed a", "children changed a", "children changed a")
	x.told(tree, "data changed a", "data changed a", "created a/b", "deleted a/b")
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
	watcher.fence(ctx)
	for _, v := range []*vigil{node, tree} {
		events, _ := v.events()
		if len(events) != len(written) {
			x.Fatalf("%s was told %q of five changes", v.what, x.words(events))
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
		by   keeping
		op   drivers.Op
		told drivers.EventType // for a child's creation
		path string
	}{
		{onNode, drivers.OpWatchNode, drivers.ChildrenChanged, x.base},
		{onTree, drivers.OpWatchTree, drivers.Created, x.path("a")},
	} {
		t := newTape()
		writer := x.dial(ctx, drivers.Options{})
		watcher := x.dial(ctx, drivers.Options{Probe: t})
		v := watcher.watch(ctx, k.by, x.base)
		writer.create(ctx, x.path("a"), "", 0)
		writer.set(ctx, x.base, "changed")
		watcher.fence(ctx)
		x.told(v, k.told.String()+" "+x.short(k.path), "data changed "+x.base)
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

func keepFenced(ctx context.Context, x *trial) {
	writer, watcher := x.pair(ctx)
	node, tree := watcher.watch(ctx, onNode, x.base), watcher.watch(ctx, onTree, x.base)
	var wantNode, wantTree []string
	for i := range 100 {
		name := fmt.Sprint(i)
		writer.create(ctx, x.path(name), "", 0)
		watcher.fence(ctx)
		wantNode, wantTree = append(wantNode, "children changed "+x.base), append(wantTree, "created "+name)
		x.told(node, wantNode...)
		x.told(tree, wantTree...)
	}
}
