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
