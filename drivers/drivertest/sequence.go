package drivertest

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/drivers"
)

func sequence() []testCase {
	return []testCase{
		{"order of creation", "Seq increases from one creation to the next: the lowest was created first and holds the lock", orderOfCreation},
		{"across sessions", "Seq increases from one creation to the next across sessions: all contenders are in one queue", acrossSessions},
		{"across names", "siblings are in one order whatever their prefixes: readers and writers of a shared lock are in one queue", acrossNames},
		{"as listed", "Create returns the name and the Seq that a listing shows, and the name begins with the requested prefix: a contender finds its node, and by its GUID even after a lost reply", asListed},
		{"no reuse", "no Seq and no name is used twice, even after the node is deleted: a resource can refuse an earlier holder by its fencing token", noReuse},
		{"same name", "the same prefix can be requested any number of times: each creates another node", sameName},
		{"ephemeral too", "a node can be ephemeral and sequential: a contender that dies leaves the queue", ephemeralToo},
		{"plain siblings", "a node that was not created sequentially has no Seq: a recipe distinguishes the queue from other nodes such as b/ready", plainSiblings},
		{"neighbors", "a list of neighbors has the sequential node right before the given one, even if plain nodes were created in between: a client that does not see the one ahead of it would hold the lock beside it", neighbors},
		{"joined", "a node's creation returns the neighbors of the new node, or none if they have to be read, and its errors are those of Create: a client that gets others would wait for the wrong one", joined},
	}
}

// increasing fails the case if the children are not in order of creation.
func (x *trial) increasing(children []drivers.Child) {
	x.Helper()
	for i := range len(children) - 1 {
		if a, b := children[i], children[i+1]; a.Seq >= b.Seq || a.Seq < 0 {
			x.Fatalf("%+v was created before %+v, want Seq to increase", a, b)
		}
	}
}

func orderOfCreation(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{})
	var made []drivers.Child
	for range 20 {
		made = append(made, c.create(ctx, x.path("n-"), "", drivers.Sequential))
	}
	x.increasing(made)
}

func acrossSessions(ctx context.Context, x *trial) {
	a, b := x.pair(ctx)
	var made []drivers.Child
	for range 10 {
		made = append(made, a.create(ctx, x.path("n-"), "", drivers.Sequential))
		made = append(made, b.create(ctx, x.path("n-"), "", drivers.Sequential|drivers.Ephemeral))
	}
	x.increasing(made)
}

func acrossNames(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{})
	var made []drivers.Child
	for _, name := range []string{"write-", "read-", "zz-", "read-", "a-", "write-"} {
		made = append(made, c.create(ctx, x.path(name), "", drivers.Sequential))
	}
	x.increasing(made)
}

func asListed(ctx context.Context, x *trial) {
	c, onlooker := x.pair(ctx)
	var made []drivers.Child
	for _, name := range []string{"0f3a-lock-", "n-", "no-17-", "n"} {
		child := c.create(ctx, x.path(name), name, drivers.Sequential)
		if !strings.HasPrefix(child.Name, name) {
			x.Errorf("asked for %q, got the name %q", name, child.Name)
		}
		if data, _ := c.get(ctx, x.path(child.Name), nil); data != name {
			x.Errorf("the node %q has %q, want %q", child.Name, data, name)
		}
		made = append(made, child)
	}
	onlooker.sync(ctx)
	listed := onlooker.children(ctx, x.base, nil)
	if len(listed) != len(made) {
		x.Errorf("listed are %+v, made were %+v", listed, made)
	}
	for _, child := range made {
		if !slices.Contains(listed, child) {
			x.Errorf("create returned %+v, which is not among the listed %+v", child, listed)
		}
	}
}

func noReuse(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{})
	names := map[string]bool{}
	var made []drivers.Child
	for range 10 {
		child := c.create(ctx, x.path("n-"), "", drivers.Sequential)
		if names[child.Name] {
			x.Fatalf("the name %q was given twice", child.Name)
		}
		names[child.Name] = true
		made = append(made, child)
		c.remove(ctx, x.path(child.Name))
	}
	x.increasing(made)
}

func sameName(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{})
	first := c.create(ctx, x.path("n-"), "first", drivers.Sequential)
	second := c.create(ctx, x.path("n-"), "second", drivers.Sequential)
	for child, want := range map[drivers.Child]string{first: "first", second: "second"} {
		if data, _ := c.get(ctx, x.path(child.Name), nil); data != want {
			x.Errorf("the node %q has %q, want %q", child.Name, data, want)
		}
	}
	x.lists(c.children(ctx, x.base, nil), first.Name, second.Name)
}

func ephemeralToo(ctx context.Context, x *trial) {
	c, onlooker := x.pair(ctx)
	first := c.create(ctx, x.path("n-"), "", drivers.Sequential|drivers.Ephemeral)
	second := onlooker.create(ctx, x.path("n-"), "", drivers.Sequential)
	x.increasing([]drivers.Child{first, second})
	if stat := c.stats(ctx, x.path(first.Name)); !stat.Ephemeral {
		x.Errorf("the stat is %+v, want it to be ephemeral", stat)
	}
	gone := listen()
	onlooker.sync(ctx)
	onlooker.get(ctx, x.path(first.Name), gone.hear)
	c.close()
	x.hears(ctx, gone, drivers.Deleted, x.path(first.Name))
	x.lists(onlooker.children(ctx, x.base, nil), second.Name)
}

func plainSiblings(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{})
	plain := []drivers.Child{
		c.create(ctx, x.path("ready"), "", 0),
		c.create(ctx, x.path("e"), "", drivers.Ephemeral),
	}
	made := c.create(ctx, x.path("n-"), "", drivers.Sequential)
	if made.Seq == drivers.NoSeq {
		x.Errorf("create returned %+v for a sequential node", made)
	}
	listed := c.children(ctx, x.base, nil)
	for _, child := range plain {
		if child.Seq != drivers.NoSeq || !slices.Contains(listed, child) {
			x.Errorf("a plain node is %+v to create, and listed are %+v; want no Seq in both", child, listed)
		}
	}
}

func neighbors(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{})
	first := c.create(ctx, x.path("n-"), "", drivers.Sequential)
	second := c.create(ctx, x.path("n-"), "", drivers.Sequential)
	for _, plain := range []string{"ready", "leader", "a"} {
		c.create(ctx, x.path(plain), "", 0)
	}
	third := c.create(ctx, x.path("n-"), "", drivers.Sequential)
	c.create(ctx, x.path("n-"), "", drivers.Sequential)
	for _, w := range []struct {
		of   drivers.Child
		want []drivers.Child
	}{{first, []drivers.Child{first}}, {second, []drivers.Child{first, second}}, {third, []drivers.Child{second, third}}} {
		if got := c.neighbors(ctx, w.of.Seq); !slices.Equal(got, w.want) {
			x.Errorf("the neighbors up to %+v are %+v, want %+v", w.of, got, w.want)
		}
	}
	c.remove(ctx, x.path(second.Name))
	if got, want := c.neighbors(ctx, third.Seq), []drivers.Child{first, third}; !slices.Equal(got, want) {
		x.Errorf("with %+v deleted, the neighbors up to %+v are %+v, want %+v", second, third, got, want)
	}
	_, err := drivers.Neighbors(ctx, c.Conn, x.path("missing"), third.Seq)
	x.wants("neighbors below a missing node", err, drivers.ErrNoNode)
}

func joined(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{})
	join := func() (drivers.Child, []drivers.Child) {
		made, listed, err := drivers.Join(ctx, c.Conn, x.path("n-"), nil, drivers.Sequential|drivers.Ephemeral)
		x.wants("join", err, nil)
		return made, listed
	}
	first, _ := join()
	for i := range 6 {
		if i == 3 {
			c.create(ctx, x.path("ready"), "", 0)
		}
		second, listed := join()
		if listed != nil && !slices.Equal(upTo(listed, second.Seq), []drivers.Child{first, second}) {
			x.Errorf("with %+v the neighbors %+v were listed, want those of %+v too", second, listed, first)
		}
		first = second
	}
	_, _, err := drivers.Join(ctx, c.Conn, x.path("missing", "n-"), nil, drivers.Sequential)
	x.wants("join without a parent", err, drivers.ErrNoNode)
}

// neighbors returns the child with the given Seq and the sequential one right before it, from
// the answer to a call of that name. The answer may have other children too.
func (c *client) neighbors(ctx context.Context, seq int64) []drivers.Child {
	c.x.Helper()
	listed, err := drivers.Neighbors(ctx, c.Conn, c.x.base, seq)
	if err != nil {
		c.x.Fatalf("neighbors of %d: %v", seq, err)
	}
	return upTo(listed, seq)
}

// upTo returns the last two sequential children whose Seq is not above seq.
func upTo(listed []drivers.Child, seq int64) []drivers.Child {
	listed = slices.DeleteFunc(listed, func(c drivers.Child) bool { return c.Seq == drivers.NoSeq || c.Seq > seq })
	slices.SortFunc(listed, func(a, b drivers.Child) int { return cmp.Compare(a.Seq, b.Seq) })
	return listed[max(0, len(listed)-2):]
}
