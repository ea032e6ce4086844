package drivertest

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/drivers"
)

func nodes() []testCase {
	return []testCase{
		{"created", "every session finds a node at its path with its data: recipes meet at agreed paths", created},
		{"parent needed", "Create creates one node and never its parents, a missing parent is ErrNoNode: a recipe's root is created once and deliberately", parentNeeded},
		{"exists once", "of two creations of one path the second returns ErrNodeExists and changes nothing: one-node locks and barriers depend on it", existsOnce},
		{"missing", "a missing node is ErrNoNode for all calls except Exists, which returns false: barriers wait for that", missing},
		{"not empty", "a node with children is not deleted, Delete returns ErrNotEmpty: no client can delete a queue in which others wait", notEmpty},
		{"deleted", "a deleted node no longer appears in reads and listings, and can be created again without anything of the earlier one", deleted},
		{"data", "data comes back byte for byte, from none to 100 KB: votes, settings and queue items are data", data},
		{"odd names", "a name may have any printable characters of the Basic Multilingual Plane (ZooKeeper has no others): members and services are named by users", oddNames},
		{"direct children", "a listing has only the direct children: a sibling with the same prefix, or a grandchild, does not compete for a lock", directChildren},
		{"many children", "a listing is complete however long it is: a client left out of it would never get the lock", manyChildren},
		{"root", "the root is a node that can be listed: tools look for leftovers there", root},
		{"sync", "after Sync a session sees all writes that were acknowledged to others: a client that learns of a write out of band must find it", syncs},
	}
}

func created(ctx context.Context, x *trial) {
	c, onlooker := x.pair(ctx)
	child := c.create(ctx, x.path("a"), "hello", 0)
	if want := (drivers.Child{Name: "a", Seq: drivers.NoSeq}); child != want {
		x.Errorf("create returned %+v, want %+v", child, want)
	}
	onlooker.sync(ctx)
	for who, c := range map[string]*client{"its creator": c, "another session": onlooker} {
		if _, found := c.exists(ctx, x.path("a"), nil); !found {
			x.Errorf("exists says to %s that there is no node", who)
		}
		if data, _ := c.get(ctx, x.path("a"), nil); data != "hello" {
			x.Errorf("get returned %q to %s, want %q", data, who, "hello")
		}
		if got := c.children(ctx, x.base, nil); !slices.Equal(got, []drivers.Child{child}) {
			x.Errorf("children returned %+v to %s, want only %+v", got, who, child)
		}
	}
}

func parentNeeded(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{})
	for _, mode := range []drivers.Mode{0, drivers.Ephemeral, drivers.Sequential, drivers.Ephemeral | drivers.Sequential} {
		_, err := c.Create(ctx, x.path("parent", "child"), nil, mode)
		x.wants(fmt.Sprintf("create without a parent, mode %d", mode), err, drivers.ErrNoNode)
	}
	if _, found := c.exists(ctx, x.path("parent"), nil); found {
		x.Error("the parent was created along the way")
	}
}

func existsOnce(ctx context.Context, x *trial) {
	c, other := x.pair(ctx)
	c.create(ctx, x.path("a"), "first", 0)
	for _, mode := range []drivers.Mode{0, drivers.Ephemeral} {
		_, err := other.Create(ctx, x.path("a"), []byte("second"), mode)
		x.wants("create of a node that exists", err, drivers.ErrNodeExists)
	}
	if data, stat := c.get(ctx, x.path("a"), nil); data != "first" || stat.Version != 0 {
		x.Errorf("the node has %q, version %d; want what its first creation gave it", data, stat.Version)
	}
}

func missing(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{})
	path := x.path("missing")
	_, _, err := c.Get(ctx, path, nil)
	x.wants("get", err, drivers.ErrNoNode)
	_, err = c.Set(ctx, path, nil, drivers.AnyVersion)
	x.wants("set", err, drivers.ErrNoNode)
	_, err = c.Set(ctx, path, nil, 3)
	x.wants("set of a version", err, drivers.ErrNoNode)
	x.wants("delete", c.Delete(ctx, path, drivers.AnyVersion), drivers.ErrNoNode)
	x.wants("delete of a version", c.Delete(ctx, path, 3), drivers.ErrNoNode)
	_, err = c.Children(ctx, path, nil)
	x.wants("children", err, drivers.ErrNoNode)
	if stat, found := c.exists(ctx, path, nil); found || stat != (drivers.Stat{}) {
		x.Errorf("exists returned %+v, %t; want no node", stat, found)
	}
}

func notEmpty(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{})
	c.create(ctx, x.path("a"), "", 0)
	c.create(ctx, x.path("a", "b"), "", 0)
	x.wants("delete of a node with a child", c.Delete(ctx, x.path("a"), drivers.AnyVersion), drivers.ErrNotEmpty)
	if _, found := c.exists(ctx, x.path("a", "b"), nil); !found {
		x.Error("the child went all the same")
	}
	c.remove(ctx, x.path("a", "b"))
	c.remove(ctx, x.path("a"))
}

func deleted(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{})
	c.create(ctx, x.path("a"), "former", 0)
	c.set(ctx, x.path("a"), "changed")
	c.remove(ctx, x.path("a"))
	if _, found := c.exists(ctx, x.path("a"), nil); found {
		x.Error("exists still finds the node")
	}
	_, _, err := c.Get(ctx, x.path("a"), nil)
	x.wants("get of a deleted node", err, drivers.ErrNoNode)
	if got := c.children(ctx, x.base, nil); len(got) != 0 {
		x.Errorf("children still lists %+v", got)
	}
	c.create(ctx, x.path("a"), "", 0)
	if data, stat := c.get(ctx, x.path("a"), nil); data != "" || stat.Version != 0 {
		x.Errorf("made anew, the node has %q, version %d; want nothing, version 0", data, stat.Version)
	}
}

func data(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{})
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	values := map[string][]byte{
		"nil": nil, "empty": {}, "zero": {0}, "every-byte": every, "large": bytes.Repeat(every, 400),
	}
	for name, want := range values {
		if _, err := c.Create(ctx, x.path(name), want, 0); err != nil {
			x.Fatalf("create with %s data: %v", name, err)
		}
		got, _, err := c.Get(ctx, x.path(name), nil)
		if err != nil || !bytes.Equal(got, want) {
			x.Errorf("%s data: got %d bytes, %v; want the %d bytes of the creation", name, len(got), err, len(want))
		}
	}
	c.create(ctx, x.path("set"), "before", 0)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if _, err := c.Set(ctx, x.path("set"), values[name], drivers.AnyVersion); err != nil {
			x.Fatalf("set with %s data: %v", name, err)
		}
		if got, _ := c.get(ctx, x.path("set"), nil); got != string(values[name]) {
			x.Errorf("%s data set: got %d bytes, want %d", name, len(got), len(values[name]))
		}
	}
}

func oddNames(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{})
	names := []string{
		"a b", "...", ".hidden", "a.b", "-", "_", "~", "#?&=+;:@!$%2F", `"quoted"`, `back\slash`, "*[a]{b}^|<>",
		"größe", "日本語", "no-0000000017", "0000000001", "UPPER", "upper", strings.Repeat("long", 60),
	}
	for _, name := range names {
		if child := c.create(ctx, x.path(name), name, 0); child.Name != name {
			x.Errorf("create %q returned the name %q", name, child.Name)
		}
	}
	for _, name := range names {
		if data, _ := c.get(ctx, x.path(name), nil); data != name {
			x.Errorf("get %q returned %q, which belongs to another name", name, data)
		}
	}
	x.lists(c.children(ctx, x.base, nil), names...)
}

// lists fails the case if the children are not the named ones.
func (x *trial) lists(children []drivers.Child, want ...string) {
	x.Helper()
	var got []string
	for _, child := range children {
		got = append(got, child.Name)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		x.Errorf("children are %q, want %q", got, want)
	}
}

func directChildren(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{})
	for _, name := range []string{"a", "a0", "a-b", "a b", "b"} {
		c.create(ctx, x.path(name), "", 0)
	}
	c.create(ctx, x.path("a", "x"), "", 0)
	c.create(ctx, x.path("a", "y"), "", 0)
	c.create(ctx, x.path("a", "x", "deep"), "", 0)
	c.create(ctx, x.path("a0", "z"), "", 0)
	x.lists(c.children(ctx, x.path("a"), nil), "x", "y")
	x.lists(c.children(ctx, x.base, nil), "a", "a0", "a-b", "a b", "b")
	x.lists(c.children(ctx, x.path("b"), nil))
	c.remove(ctx, x.path("a", "y"))
	x.lists(c.children(ctx, x.path("a"), nil), "x")
}

func manyChildren(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{})
	var names []string
	for i := range 300 {
		names = append(names, fmt.Sprintf("a-name-of-some-length-%d", i))
		c.create(ctx, x.path(names[i]), "", 0)
	}
	x.lists(c.children(ctx, x.base, nil), names...)
}

func root(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{})
	if _, found := c.exists(ctx, "/", nil); !found {
		x.Error("exists does not find the root")
	}
	own := drivers.Child{Name: x.base[1:], Seq: drivers.NoSeq}
	if children := c.children(ctx, "/", nil); !slices.Contains(children, own) {
		x.Errorf("the root lists %+v, which lacks %+v", children, own)
	}
}

func syncs(ctx context.Context, x *trial) {
	c, onlooker := x.pair(ctx)
	c.create(ctx, x.path("a"), "", 0)
	for i := range 50 {
		c.set(ctx, x.path("a"), fmt.Sprint(i))
		onlooker.sync(ctx)
		if data, _ := onlooker.get(ctx, x.path("a"), nil); data != fmt.Sprint(i) {
			x.Fatalf("after sync the node has %q, want %q, which was acknowledged before", data, fmt.Sprint(i))
		}
	}
}
