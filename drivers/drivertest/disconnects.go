package drivertest

import (
	"context"
	"fmt"
	"slices"

	"github.com/stampede-bench/stampede/drivers"
)

func disconnects() []testCase {
	return []testCase{
		{"lost create", "a create whose reply is lost fails with ErrConnectionLoss and has happened once; the session stays alive and finds the node by listing: recipes recover by a GUID in the name", lostCreate},
		{"lost set", "a set whose reply is lost has happened once: a library that silently retries it would apply it twice", lostSet},
		{"lost delete", "a delete whose reply is lost fails with ErrConnectionLoss and has happened: the caller finds out by reading", lostDelete},
		{"lost read", "a read whose reply is lost fails with ErrConnectionLoss, and its watch is never called", lostRead},
		{"asked of every reply", "LoseReply is called for every reply, with the Op of its call: faults are placed exactly", askedOfEveryReply},
		{"states", "OnState is called for the disconnect and for the reconnect, and for nothing else: a holder can pause in time and resume", tellsStates},
		{"cut", "a connection can be cut, where the Conn is a Cutter: the session connects again and keeps its watches", cutConnection},
		{"waits for the reconnect", "a call made while the session is disconnected waits and succeeds: recipes need no retry loop around every call", waitsForReconnect},
		{"watch in flight", "a notification that was lost with the connection is not lost to the client: its watch fires once after the reconnect", watchInFlight},
		{"changes while away", "every armed watch whose node changed while the session was disconnected fires once after the reconnect, with what happened; the others stay armed", changesWhileAway},
		{"closed while away", "a session can be closed while it is disconnected: its watches are called with Lost, and its calls fail, as when it is connected", closedWhileAway},
		{"watch outlives", "a watch outlives the connection: it fires once for a change after the reconnect, and not for a change that its read returned", watchOutlives},
	}
}

func lostCreate(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{LoseReply: x.losing(drivers.OpCreate).ask})
	_, err := c.Create(ctx, x.path("guid-"), []byte("mine"), drivers.Ephemeral|drivers.Sequential)
	x.wants("the create whose reply was lost", err, drivers.ErrConnectionLoss)
	children := c.children(ctx, x.base, nil)
	if len(children) != 1 {
		x.Fatalf("the node has the children %+v, want the one that was created", children)
	}
	data, stat := c.get(ctx, x.path(children[0].Name), nil)
	if data != "mine" || !stat.Ephemeral || stat.Version != 0 {
		x.Errorf("the node has %q, %+v; want it as it was to be created", data, stat)
	}
	select {
	case <-c.Done():
		x.Error("a lost reply ended the session")
	default:
	}
	next := c.create(ctx, x.path("guid-"), "", drivers.Ephemeral|drivers.Sequential)
	x.increasing([]drivers.Child{children[0], next})
	c.close()
	x.gone(ctx, children[0].Name)
}

// gone checks that another session does not see the node.
func (x *trial) gone(ctx context.Context, name string) {
	x.Helper()
	onlooker := x.dial(ctx, drivers.Options{})
	onlooker.sync(ctx)
	if _, found := onlooker.exists(ctx, x.path(name), nil); found {
		x.Errorf("%s is still there", name)
	}
}

func lostSet(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{LoseReply: x.losing(drivers.OpSet).ask})
	c.create(ctx, x.path("a"), "", 0)
	_, err := c.Set(ctx, x.path("a"), []byte("written"), drivers.AnyVersion)
	x.wants("the set whose reply was lost", err, drivers.ErrConnectionLoss)
	if data, stat := c.get(ctx, x.path("a"), nil); data != "written" || stat.Version != 1 {
		x.Errorf("the node has %q, version %d; want the set to have happened once", data, stat.Version)
	}
}

func lostDelete(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{LoseReply: x.losing(drivers.OpDelete).ask})
	c.create(ctx, x.path("a"), "", 0)
	x.wants("the delete whose reply was lost", c.Delete(ctx, x.path("a"), 0), drivers.ErrConnectionLoss)
	if _, found := c.exists(ctx, x.path("a"), nil); found {
		x.Error("the node is still there")
	}
}

func lostRead(ctx context.Context, x *trial) {
	writer := x.dial(ctx, drivers.Options{})
	writer.create(ctx, x.path("a"), "", 0)
	for _, op := range []drivers.Op{drivers.OpGet, drivers.OpExists, drivers.OpChildren} {
		c := x.dial(ctx, drivers.Options{LoseReply: x.losing(op).ask})
		l := listen()
		var err error
		switch op {
		case drivers.OpGet:
			_, _, err = c.Get(ctx, x.path("a"), l.hear)
		case drivers.OpExists:
			_, _, err = c.Exists(ctx, x.path("a"), l.hear)
		case drivers.OpChildren:
			_, err = c.Children(ctx, x.path("a"), l.hear)
		}
		x.wants(fmt.Sprintf("the %v whose reply was lost", op), err, drivers.ErrConnectionLoss)
		c.sync(ctx)
		writer.set(ctx, x.path("a"), "changed")
		writer.create(ctx, x.path("a", op.String()), "", 0)
		c.flush(ctx)
		c.close()
		x.expectCalls(l, fmt.Sprintf("the watch of an %v that failed", op))
	}
}

func askedOfEveryReply(ctx context.Context, x *trial) {
	asked := newRecording()
	c := x.dial(ctx, drivers.Options{LoseReply: func(m drivers.Message) bool {
		asked.Message(m)
		return false
	}})
	done := script(ctx, c)
	c.close()
	for _, m := range asked.all(func(m drivers.Message) bool { return m.Kind != drivers.Reply }) {
		x.Errorf("LoseReply was asked of %+v, which is no reply", m)
	}
	x.saw("LoseReply", asked.all(contractual), done, exchange.repliedBy)
}

func tellsStates(ctx context.Context, x *trial) {
	d := newDiary()
	c := x.dial(ctx, drivers.Options{OnState: d.note, LoseReply: x.losing(drivers.OpGet).ask})
	if states, _ := d.read(); len(states) != 0 {
		x.Errorf("OnState got %v of a session that was just opened", states)
	}
	_, _, err := c.Get(ctx, x.base, nil)
	x.wants("the read whose reply was lost", err, drivers.ErrConnectionLoss)
	c.get(ctx, x.base, nil)
	want := []drivers.State{drivers.Disconnected, drivers.Connected}
	if states := x.reads(ctx, d, 2, "the reconnect"); !slices.Equal(states, want) {
		x.Errorf("OnState got %v, want %v: disconnected, connected", states, want)
	}
}

func cutConnection(ctx context.Context, x *trial) {
	d := newDiary()
	writer := x.dial(ctx, drivers.Options{})
	c := x.dial(ctx, drivers.Options{OnState: d.note})
	cutter, ok := c.Conn.(drivers.Cutter)
	if !ok {
		x.Skipf("%T is no drivers.Cutter", c.Conn)
	}
	l := listen()
	c.get(ctx, x.base, l.hear)
	cutter.Cut()
	want := []drivers.State{drivers.Disconnected, drivers.Connected}
	if states := x.reads(ctx, d, 2, "the reconnect"); !slices.Equal(states, want) {
		x.Errorf("OnState got %v, want %v: disconnected, connected", states, want)
	}
	writer.set(ctx, x.base, "changed")
	x.hears(ctx, l, drivers.DataChanged, x.base)
}

func waitsForReconnect(ctx context.Context, x *trial) {
	d := newDiary()
	away := x.holdReplyAtReconnect()
	c := x.dial(ctx, drivers.Options{OnState: d.note, LoseReply: either(x.losing(drivers.OpGet), away)})
	_, _, err := c.Get(ctx, x.base, nil)
	x.wants("the read whose reply was lost", err, drivers.ErrConnectionLoss)
	x.reads(ctx, d, 1, "the disconnect")
	x.await(ctx, away.stopped, "the session to reconnect")
	soon, cancel := soon(ctx)
	defer cancel()
	_, _, err = c.Get(soon, x.base, nil)
	x.wants("a get that is given up while disconnected", err, context.DeadlineExceeded)
	x.atOnce(
		func() error {
			_, err := c.Create(ctx, x.path("a"), nil, drivers.Ephemeral)
			return err
		},
		func() error {
			_, _, err := c.Exists(ctx, x.path("b"), func(drivers.Event) {})
			return err
		},
		func() error { away.pass(); return nil },
	)
	if _, found := c.exists(ctx, x.path("a"), nil); !found {
		x.Error("the node that was created while disconnected is not there")
	}
}

func watchInFlight(ctx context.Context, x *trial) {
	lost := x.holdReply(drivers.OpSync)
	writer := x.dial(ctx, drivers.Options{})
	watcher := x.dial(ctx, drivers.Options{LoseReply: lost.ask})
	l := listen()
	watcher.get(ctx, x.base, l.hear)
	x.atOnce(
		func() error { return unless(watcher.Sync(ctx, x.base), drivers.ErrConnectionLoss) },
		func() error {
			// Replies and events behind the stopped reply are lost with the connection.
			if err := lost.reached(ctx); err != nil {
				return err
			}
			_, err := writer.Set(ctx, x.base, nil, drivers.AnyVersion)
			lost.lose()
			return err
		},
	)
	x.hears(ctx, l, drivers.DataChanged, x.base)
	watcher.flush(ctx)
	x.expectCalls(l, "the watch whose notification was lost with the connection", drivers.DataChanged)
}

func changesWhileAway(ctx context.Context, x *trial) {
	away := x.holdReplyAtReconnect()
	writer := x.dial(ctx, drivers.Options{})
	watcher := x.dial(ctx, drivers.Options{LoseReply: either(x.losing(drivers.OpSync), away)})
	for _, name := range []string{"parent", "changed", "removed", "read", "untouched"} {
		writer.create(ctx, x.path(name), "", 0)
	}
	rows := []struct {
		by   func(context.Context, *client, string, drivers.Watch)
		name string
		want drivers.EventType // 0: the watch stays armed
	}{
		{byExists, "made", drivers.Created},
		{byExists, "changed", drivers.DataChanged},
		{byGet, "changed", drivers.DataChanged},
		{byExists, "removed", drivers.Deleted},
		{byGet, "removed", drivers.Deleted},
		{byList, "removed", drivers.Deleted},
		{byList, "parent", drivers.ChildrenChanged},
		{byGet, "parent", 0},
		{byGet, "untouched", 0},
		{byList, "untouched", 0},
		{byExists, "missing", 0},
	}
	watcher.flush(ctx)
	listeners := make([]*listener, len(rows))
	for i, row := range rows {
		listeners[i] = listen()
		row.by(ctx, watcher, x.path(row.name), listeners[i].hear)
	}
	x.wants("the sync whose reply was lost", watcher.Sync(ctx, x.base), drivers.ErrConnectionLoss)
	x.await(ctx, away.stopped, "the session to reconnect")
	writer.create(ctx, x.path("made"), "", 0)
	writer.set(ctx, x.path("changed"), "changed")
	writer.remove(ctx, x.path("removed"))
	writer.create(ctx, x.path("parent", "child"), "", 0)
	away.pass()
	for i, row := range rows {
		if row.want != 0 {
			x.hears(ctx, listeners[i], row.want, x.path(row.name))
		}
	}
	watcher.flush(ctx)
	for i, row := range rows {
		if row.want == 0 {
			x.expectCalls(listeners[i], "the watch on "+row.name+", which it did not see change")
		} else {
			x.expectCalls(listeners[i], "the watch on "+row.name, row.want)
		}
	}
}

func watchOutlives(ctx context.Context, x *trial) {
	d := newDiary()
	writer := x.dial(ctx, drivers.Options{})
	watcher := x.dial(ctx, drivers.Options{OnState: d.note, LoseReply: x.losing(drivers.OpSync).ask})
	writer.create(ctx, x.path("a"), "", 0)
	writer.set(ctx, x.path("a"), "read")
	watcher.flush(ctx)
	data, presence, children := listen(), listen(), listen()
	watcher.get(ctx, x.path("a"), data.hear)
	watcher.exists(ctx, x.path("missing"), presence.hear)
	watcher.children(ctx, x.path("a"), children.hear)
	x.wants("the sync whose reply was lost", watcher.Sync(ctx, x.base), drivers.ErrConnectionLoss)
	x.reads(ctx, d, 2, "the reconnect")
	watcher.flush(ctx)
	x.expectCalls(data, "get, nothing changed over a reconnect")
	x.expectCalls(presence, "exists, nothing changed over a reconnect")
	x.expectCalls(children, "children, nothing changed over a reconnect")
	writer.create(ctx, x.path("missing"), "", 0)
	writer.create(ctx, x.path("a", "b"), "", 0)
	writer.set(ctx, x.path("a"), "changed")
	x.hears(ctx, data, drivers.DataChanged, x.path("a"))
	x.hears(ctx, presence, drivers.Created, x.path("missing"))
	x.hears(ctx, children, drivers.ChildrenChanged, x.path("a"))
}

func closedWhileAway(ctx context.Context, x *trial) {
	for range 5 {
		c := x.dial(ctx, drivers.Options{LoseReply: x.losing(drivers.OpSync).ask})
		l := listen()
		c.get(ctx, x.base, l.hear)
		x.wants("the sync whose reply was lost", c.Sync(ctx, x.base), drivers.ErrConnectionLoss)
		c.close()
		x.hears(ctx, l, drivers.Lost, x.base)
		c.ended(ctx)
	}
}
