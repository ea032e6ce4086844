package drivertest

import (
	"context"
	"fmt"

	"github.com/stampede-bench/stampede/drivers"
)

func ephemerals() []testCase {
	return []testCase{
		{"gone at close", "Close deletes the session's ephemeral nodes and fires the watches on them and on their parent: a client that waits behind one that has left proceeds", goneAtClose},
		{"all gone", "every ephemeral node of the session is deleted, wherever it is, and no persistent node or node of another session", allGone},
		{"distinguishable", "Stat.Ephemeral shows every session which nodes end with their creator's session", distinguishable},
		{"no children", "an ephemeral node cannot have children, Create returns ErrNoChildrenForEphemerals: nothing is orphaned when the node is deleted", noChildren},
		{"deleted by another", "any session can delete an ephemeral node: the form laser-beams deposes a holder that way", deletedByAnother},
		{"survives a disconnect", "an ephemeral node belongs to the session, not to the connection: a holder that reconnects in time still holds", survivesDisconnect},
	}
}

func goneAtClose(ctx context.Context, x *trial) {
	owner, onlooker := x.pair(ctx)
	owner.create(ctx, x.path("e"), "", drivers.Ephemeral)
	onlooker.sync(ctx)
	byExists, byGet, byChildren := listen(), listen(), listen()
	onlooker.exists(ctx, x.path("e"), byExists.hear)
	onlooker.get(ctx, x.path("e"), byGet.hear)
	onlooker.children(ctx, x.base, byChildren.hear)
	owner.close()
	x.hears(ctx, byExists, drivers.Deleted, x.path("e"))
	x.hears(ctx, byGet, drivers.Deleted, x.path("e"))
	x.hears(ctx, byChildren, drivers.ChildrenChanged, x.base)
	if _, found := onlooker.exists(ctx, x.path("e"), nil); found {
		x.Error("the node is still there after its watch fired")
	}
}

func allGone(ctx context.Context, x *trial) {
	owner, onlooker := x.pair(ctx)
	owner.create(ctx, x.path("persistent"), "", 0)
	onlooker.create(ctx, x.path("others"), "", drivers.Ephemeral)
	for i := range 20 {
		parent := fmt.Sprintf("parent-%d", i)
		onlooker.create(ctx, x.path(parent), "", 0)
		owner.sync(ctx)
		owner.create(ctx, x.path(parent, "e"), "", drivers.Ephemeral)
	}
	owner.close()
	onlooker.sync(ctx)
	for i := range 20 {
		x.lists(onlooker.children(ctx, x.path(fmt.Sprintf("parent-%d", i)), nil))
	}
	for _, name := range []string{"persistent", "others"} {
		if _, found := onlooker.exists(ctx, x.path(name), nil); !found {
			x.Errorf("%s went too", name)
		}
	}
}

func distinguishable(ctx context.Context, x *trial) {
	owner, onlooker := x.pair(ctx)
	owner.create(ctx, x.path("e"), "", drivers.Ephemeral)
	owner.create(ctx, x.path("p"), "", 0)
	if stat := owner.set(ctx, x.path("e"), "data"); !stat.Ephemeral {
		x.Errorf("set tells %+v of an ephemeral node", stat)
	}
	onlooker.sync(ctx)
	for who, c := range map[string]*client{"owner": owner, "another session": onlooker} {
		if stat := c.stats(ctx, x.path("e")); !stat.Ephemeral {
			x.Errorf("to the %s an ephemeral node is %+v", who, stat)
		}
		if stat := c.stats(ctx, x.path("p")); stat.Ephemeral {
			x.Errorf("to the %s a persistent node is %+v", who, stat)
		}
	}
}

func noChildren(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{})
	c.create(ctx, x.path("e"), "", drivers.Ephemeral)
	for _, mode := range []drivers.Mode{0, drivers.Ephemeral, drivers.Sequential} {
		_, err := c.Create(ctx, x.path("e", "child"), nil, mode)
		x.wants(fmt.Sprintf("create below an ephemeral node, mode %d", mode), err, drivers.ErrNoChildrenForEphemerals)
	}
	x.lists(c.children(ctx, x.path("e"), nil))
}

func deletedByAnother(ctx context.Context, x *trial) {
	owner, other := x.pair(ctx)
	owner.create(ctx, x.path("e"), "", drivers.Ephemeral)
	gone := listen()
	owner.exists(ctx, x.path("e"), gone.hear)
	other.sync(ctx)
	other.remove(ctx, x.path("e"))
	x.hears(ctx, gone, drivers.Deleted, x.path("e"))
	other.create(ctx, x.path("e"), "", drivers.Ephemeral)
	owner.close()
	other.sync(ctx)
	if _, found := other.exists(ctx, x.path("e"), nil); !found {
		x.Error("the former owner's end removed a node that another session had made in its place")
	}
}

func survivesDisconnect(ctx context.Context, x *trial) {
	owner := x.dial(ctx, drivers.Options{LoseReply: x.losing(drivers.OpGet).ask})
	onlooker := x.dial(ctx, drivers.Options{})
	owner.create(ctx, x.path("e"), "", drivers.Ephemeral)
	gone := listen()
	onlooker.sync(ctx)
	onlooker.exists(ctx, x.path("e"), gone.hear)
	_, _, err := owner.Get(ctx, x.path("e"), nil)
	x.wants("the read whose reply was lost", err, drivers.ErrConnectionLoss)
	if data, stat := owner.get(ctx, x.path("e"), nil); data != "" || !stat.Ephemeral {
		x.Errorf("after the reconnect the owner reads %q, %+v", data, stat)
	}
	onlooker.flush(ctx)
	x.expectCalls(gone, "the ephemeral node of a session that reconnected")
}

func versions() []testCase {
	return []testCase{
		{"fresh", "a new node has version 0, no children, and was created and modified by the same write: compare-and-set starts from there", fresh},
		{"counts sets", "every Set increments the version and changes Modified, never Created, even if the data stays the same; Set, Get and Exists return the same Stat", countsSets},
		{"conditional set", "a Set with another version than the node's returns ErrBadVersion and changes nothing: two clients that have read the same state cannot both write", conditionalSet},
		{"conditional delete", "a Delete with another version than the node's returns ErrBadVersion and deletes nothing: a client deletes only the data that it has read", conditionalDelete},
		{"any version", "AnyVersion matches every node, however often it was changed", anyVersion},
		{"children apart", "creating and deleting children does not change a node's Stat: a version counts changes of data", childrenApart},
		{"one order", "positions are in one order over all writes of all sessions to all nodes: fencing and fan-out accounting compare them", oneOrder},
		{"recreated", "a node that is created again starts at version 0 with a later Created: a client with an old Stat can detect it", recreated},
	}
}

// stats fails the case if the reads do not agree on the node's Stat.
func (c *client) stats(ctx context.Context, path string) drivers.Stat {
	c.x.Helper()
	_, got := c.get(ctx, path, nil)
	if stat, _ := c.exists(ctx, path, nil); stat != got {
		c.x.Errorf("exists tells %+v of %s, get tells %+v", stat, path, got)
	}
	return got
}

func fresh(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{})
	c.create(ctx, x.path("a"), "data", 0)
	stat := c.stats(ctx, x.path("a"))
	if stat.Created <= 0 {
		x.Errorf("created at position %d, want a positive one", stat.Created)
	}
	if want := (drivers.Stat{Created: stat.Created, Modified: stat.Created}); stat != want {
		x.Errorf("stat is %+v, want %+v", stat, want)
	}
}

func countsSets(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{})
	c.create(ctx, x.path("a"), "same", 0)
	before := c.stats(ctx, x.path("a"))
	for i := range int32(5) {
		stat := c.set(ctx, x.path("a"), "same")
		if got := c.stats(ctx, x.path("a")); got != stat {
			x.Errorf("set tells %+v, reads tell %+v", stat, got)
		}
		if stat.Version != i+1 || stat.Modified <= before.Modified || stat.Created != before.Created {
			x.Errorf("set %d: stat is %+v after %+v; want one more version, a later Modified, the same Created", i+1, stat, before)
		}
		before = stat
	}
}

func conditionalSet(ctx context.Context, x *trial) {
	c, other := x.pair(ctx)
	c.create(ctx, x.path("a"), "0", 0)
	if _, err := c.Set(ctx, x.path("a"), []byte("1"), 0); err != nil {
		x.Fatalf("set of version 0: %v", err)
	}
	for _, version := range []int32{0, 2, 7} {
		_, err := other.Set(ctx, x.path("a"), []byte("wrong"), version)
		x.wants("set of another version than 1", err, drivers.ErrBadVersion)
	}
	if data, stat := c.get(ctx, x.path("a"), nil); data != "1" || stat.Version != 1 {
		x.Errorf("refused sets left %q, version %d; want %q, version 1", data, stat.Version, "1")
	}
	if stat, err := other.Set(ctx, x.path("a"), []byte("2"), 1); err != nil || stat.Version != 2 {
		x.Errorf("set of version 1: version %d, %v; want 2", stat.Version, err)
	}
}

func conditionalDelete(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{})
	c.create(ctx, x.path("a"), "", 0)
	c.set(ctx, x.path("a"), "1")
	for _, version := range []int32{0, 2} {
		x.wants("delete of another version than 1", c.Delete(ctx, x.path("a"), version), drivers.ErrBadVersion)
	}
	if _, found := c.exists(ctx, x.path("a"), nil); !found {
		x.Fatal("a refused delete removed the node")
	}
	if err := c.Delete(ctx, x.path("a"), 1); err != nil {
		x.Errorf("delete of version 1: %v", err)
	}
	if _, found := c.exists(ctx, x.path("a"), nil); found {
		x.Error("the node is still there")
	}
}

func anyVersion(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{})
	c.create(ctx, x.path("a"), "", 0)
	for range 3 {
		c.set(ctx, x.path("a"), "data")
	}
	c.remove(ctx, x.path("a"))
}

func childrenApart(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{})
	c.create(ctx, x.path("a"), "", 0)
	want := c.stats(ctx, x.path("a"))
	check := func(after string) {
		if got := c.stats(ctx, x.path("a")); got != want {
			x.Errorf("after %s the stat is %+v, want %+v", after, got, want)
		}
	}
	c.create(ctx, x.path("a", "b"), "", 0)
	check("a creation below")
	c.create(ctx, x.path("a", "c"), "", drivers.Ephemeral)
	check("a second creation below")
	c.set(ctx, x.path("a", "b"), "data")
	check("a set below")
	c.create(ctx, x.path("a", "b", "d"), "", 0)
	check("a creation further below")
	c.remove(ctx, x.path("a", "c"))
	check("a deletion below")
}

func oneOrder(ctx context.Context, x *trial) {
	c, other := x.pair(ctx)
	c.create(ctx, x.path("a"), "", 0)
	other.create(ctx, x.path("b"), "", 0)
	modified := c.set(ctx, x.path("a"), "1").Modified
	other.create(ctx, x.path("c"), "", drivers.Ephemeral)
	c.sync(ctx)
	positions := []int64{
		c.stats(ctx, x.base).Created,
		c.stats(ctx, x.path("a")).Created,
		c.stats(ctx, x.path("b")).Created,
		modified,
		c.stats(ctx, x.path("c")).Created,
	}
	for i := range len(positions) - 1 {
		if positions[i] >= positions[i+1] {
			x.Fatalf("positions of consecutive writes are %v, want them to increase", positions)
		}
	}
}

func recreated(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{})
	c.create(ctx, x.path("a"), "", 0)
	former := c.set(ctx, x.path("a"), "1")
	c.remove(ctx, x.path("a"))
	c.create(ctx, x.path("a"), "", 0)
	stat := c.stats(ctx, x.path("a"))
	if stat.Version != 0 || stat.Created <= former.Modified || stat.Modified != stat.Created {
		x.Errorf("made anew, the stat is %+v after %+v; want version 0, created later", stat, former)
	}
}
