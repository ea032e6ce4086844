package drivertest

import (
	"context"

	"github.com/stampede-bench/stampede/drivers"
)

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
