package drivertest

import (
	"context"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/drivers"
)

func sequence() []testCase {
	return []testCase{
		{"order of creation", "Seq increases from one creation to the next: the lowest came first and holds the lock", orderOfCreation},
		{"across sessions", "Seq increases from one creation to the next whoever creates: contenders queue in one line", acrossSessions},
		{"across names", "siblings are in one order whatever their names begin with: readers and writers of a shared lock queue in one line", acrossNames},
		{"as listed", "Create returns the name and the Seq that a listing shows, and the name begins with what was asked for: a contender finds itself, and by its GUID even after a lost reply", asListed},
		{"no reuse", "a Seq and a name are never given twice, though the node has gone: a fencing token refuses who held it before", noReuse},
		{"same name", "the same name can be asked for again and again: each is a node of its own", sameName},
		{"ephemeral too", "a node can be ephemeral and sequential: a contender that dies leaves the line", ephemeralToo},
		{"plain siblings", "a node that was not created sequentially has no Seq: a recipe tells the line from what else is there, e.g. b/ready", plainSiblings},
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
