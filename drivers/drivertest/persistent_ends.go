package drivertest

import (
	"context"
	"errors"
	"slices"

	"github.com/stampede-bench/stampede/drivers"
)

func persistentEnds() []testCase {
	return []testCase{
		{"close tells", "Close calls every persistent watch with Lost, once and last: a mirror learns that it is out of date", keepClosed},
		{"expiry tells", "expiry calls every persistent watch with Lost, once and last", keepExpired},
		{"expiry of another", "a persistent watch reports every ephemeral node that is deleted with another session", keepOthersExpiry},
		{"ended", "a persistent watch of a session that has ended is refused with ErrSessionLost, and never called", keepEnded},
		{"lost arming", "an arming whose reply is lost fails with ErrConnectionLoss, its watch is never called, and it can be armed again", keepLost},
		{"given up", "an arming whose context has ended fails, and its watch is never called", keepGivenUp},
		{"outlives the context", "the context bounds the call, not the watch", keepOutlives},
		{"rearmed", "after each reconnect the watch is called once with Rearmed, and then with every change: a client that has read again is up to date", keepRearmed},
		{"while away", "changes during a disconnect are reported before Rearmed or not at all, and none is reported twice: reading after Rearmed is enough", keepAway},
		{"resumed", "after a reconnect a watch that resumes is called for every change that it has missed, once and in order, and not with Rearmed: a mirror need not read again", keepResumed},
		{"stopped while away", "a watch that is stopped while the session is disconnected is not armed again", keepStoppedAway},
		{"closed while away", "a session that is closed while it is disconnected calls its persistent watches with Lost", keepClosedAway},
	}
}

func keepClosed(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{})
	node, tree := c.watch(ctx, onNode, x.base), c.watch(ctx, onTree, x.path("missing"))
	c.close()
	c.close()
	for _, v := range []*persistentWatch{node, tree} {
		x.learns(ctx, v, drivers.Lost, 1)
		x.expectEvents(v, "lost")
	}
}

func keepExpired(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{})
	node, tree := c.watch(ctx, onNode, x.base), c.watch(ctx, onTree, x.base)
	x.expire(ctx, c)
	for _, v := range []*persistentWatch{node, tree} {
		x.learns(ctx, v, drivers.Lost, 1)
		// A session may be disconnected and reconnect before it expires.
		events, _ := v.events()
		told := slices.DeleteFunc(x.words(events), func(word string) bool { return word == "rearmed" })
		if !slices.Equal(told, []string{"lost"}) || events[len(events)-1].Type != drivers.Lost {
			x.Fatalf("%s got events %q, want lost, once and last", v.what, x.words(events))
		}
	}
}

func keepOthersExpiry(ctx context.Context, x *trial) {
	owner, watcher := x.pair(ctx)
	for _, name := range []string{"a", "b", "c"} {
		owner.create(ctx, x.path(name), "", drivers.Ephemeral)
	}
	watcher.sync(ctx)
	node, tree := watcher.watch(ctx, onNode, x.base), watcher.watch(ctx, onTree, x.base)
	gone := listen()
	watcher.get(ctx, x.path("a"), gone.hear)
	x.expire(ctx, owner)
	x.hears(ctx, gone, drivers.Deleted, x.path("a"))
	watcher.flush(ctx)
	children := "children changed " + x.base
	x.expectEvents(node, children, children, children)
	events, _ := tree.events()
	got := x.words(events)
	slices.Sort(got)
	if want := []string{"deleted a", "deleted b", "deleted c"}; !slices.Equal(got, want) {
		x.Errorf("%s got events %q, want %q in any order", tree.what, got, want)
	}
}

func keepEnded(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{})
	c.close()
	for _, by := range []armFunc{onNode, onTree} {
		_, err := c.tryWatch(ctx, by, x.base)
		x.wants("a persistent watch after the session's end", err, drivers.ErrSessionLost)
	}
}

func keepLost(ctx context.Context, x *trial) {
	writer := x.dial(ctx, drivers.Options{})
	for op, by := range map[drivers.Op]armFunc{drivers.OpWatchNode: onNode, drivers.OpWatchTree: onTree} {
		c := x.dial(ctx, drivers.Options{LoseReply: x.losing(op).ask})
		_, err := c.tryWatch(ctx, by, x.base)
		x.wants("the arming whose reply was lost", err, drivers.ErrConnectionLoss)
		again := c.watch(ctx, by, x.base)
		writer.set(ctx, x.base, "changed")
		c.flush(ctx)
		x.expectEvents(again, "data changed "+x.base)
	}
}

func keepGivenUp(ctx context.Context, x *trial) {
	writer, c := x.pair(ctx)
	over, cancel := context.WithCancelCause(ctx)
	cancel(errors.New("given up"))
	for _, by := range []armFunc{onNode, onTree} {
		if _, err := c.tryWatch(over, by, x.base); err == nil {
			x.Error("an arming whose context had ended succeeded")
		}
	}
	for range 50 {
		soon, cancel := context.WithCancel(ctx)
		x.atOnce(
			func() error { cancel(); return nil },
			func() error {
				v, err := c.tryWatch(soon, onNode, x.base)
				if err == nil {
					v.stop()
				}
				return unless(err, context.Canceled)
			},
		)
	}
	writer.set(ctx, x.base, "changed")
	c.flush(ctx)
}

func keepOutlives(ctx context.Context, x *trial) {
	writer, watcher := x.pair(ctx)
	call, cancel := context.WithCancel(ctx)
	node, tree := watcher.watch(call, onNode, x.base), watcher.watch(call, onTree, x.base)
	cancel()
	watcher.flush(ctx)
	writer.set(ctx, x.base, "changed")
	watcher.flush(ctx)
	x.expectEvents(node, "data changed "+x.base)
	x.expectEvents(tree, "data changed "+x.base)
}

func keepRearmed(ctx context.Context, x *trial) {
	writer := x.dial(ctx, drivers.Options{})
	watcher := x.dial(ctx, drivers.Options{LoseReply: either(x.losing(drivers.OpSync), x.losing(drivers.OpGet))})
	node, tree := watcher.watch(ctx, onNode, x.path("a")), watcher.watch(ctx, onTree, x.path("a"))
	writer.create(ctx, x.path("a"), "", 0)
	watcher.flush(ctx)
	x.wants("the sync whose reply was lost", watcher.Sync(ctx, x.base), drivers.ErrConnectionLoss)
	for _, v := range []*persistentWatch{node, tree} {
		x.learns(ctx, v, drivers.Rearmed, 1)
	}
	writer.set(ctx, x.path("a"), "changed")
	writer.create(ctx, x.path("a", "b"), "", 0)
	watcher.flush(ctx)
	x.expectEvents(node, "created a", "rearmed", "data changed a", "children changed a")
	x.expectEvents(tree, "created a", "rearmed", "data changed a", "created a/b")
	_, _, err := watcher.Get(ctx, x.base, nil)
	x.wants("the get whose reply was lost", err, drivers.ErrConnectionLoss)
	for _, v := range []*persistentWatch{node, tree} {
		x.learns(ctx, v, drivers.Rearmed, 2)
	}
	watcher.flush(ctx)
	x.expectEvents(node, "created a", "rearmed", "data changed a", "children changed a", "rearmed")
	x.expectEvents(tree, "created a", "rearmed", "data changed a", "created a/b", "rearmed")
}

func keepAway(ctx context.Context, x *trial) {
	away := x.holdReplyAtReconnect()
	writer := x.dial(ctx, drivers.Options{})
	watcher := x.dial(ctx, drivers.Options{LoseReply: either(x.losing(drivers.OpSync), away)})
	node, tree := watcher.watch(ctx, onNode, x.base), watcher.watch(ctx, onTree, x.base)
	writer.create(ctx, x.path("before"), "", 0)
	watcher.flush(ctx)
	x.wants("the sync whose reply was lost", watcher.Sync(ctx, x.base), drivers.ErrConnectionLoss)
	x.await(ctx, away.stopped, "the session to reconnect")
	writer.create(ctx, x.path("away"), "", 0)
	away.pass()
	for _, v := range []*persistentWatch{node, tree} {
		x.learns(ctx, v, drivers.Rearmed, 1)
	}
	x.lists(watcher.children(ctx, x.base, nil), "before", "away")
	writer.create(ctx, x.path("after"), "", 0)
	watcher.flush(ctx)
	children := "children changed " + x.base
	x.expectEither(node, []string{children, children, "rearmed", children}, []string{children, "rearmed", children})
	x.expectEither(tree, []string{"created before", "created away", "rearmed", "created after"}, []string{"created before", "rearmed", "created after"})
}

func keepResumed(ctx context.Context, x *trial) {
	away := x.holdReplyAtReconnect()
	writer := x.dial(ctx, drivers.Options{})
	watcher := x.dial(ctx, drivers.Options{LoseReply: either(x.losing(drivers.OpSync), away)})
	if _, can := watcher.Conn.(drivers.Resumer); !can {
		x.Skip("its watches do not resume")
	}
	tree := watcher.watch(ctx, onResumed, x.base)
	writer.create(ctx, x.path("before"), "", 0)
	watcher.flush(ctx)
	x.wants("the sync whose reply was lost", watcher.Sync(ctx, x.base), drivers.ErrConnectionLoss)
	x.await(ctx, away.stopped, "the session to reconnect")
	writer.create(ctx, x.path("away"), "", 0)
	writer.set(ctx, x.path("before"), "changed")
	writer.remove(ctx, x.path("away"))
	away.pass()
	watcher.sync(ctx)
	writer.create(ctx, x.path("after"), "", 0)
	watcher.flush(ctx)
	x.expectEvents(tree, "created before", "created away", "data changed before", "deleted away", "created after")
}

// expectEither checks the events of a watch where the contract allows either of two sequences.
func (x *trial) expectEither(v *persistentWatch, either, or []string) {
	x.Helper()
	events, _ := v.events()
	if got := x.words(events); !slices.Equal(got, either) && !slices.Equal(got, or) {
		x.Fatalf("%s got events %q, want %q or %q", v.what, got, either, or)
	}
}

func keepStoppedAway(ctx context.Context, x *trial) {
	away := x.holdReplyAtReconnect()
	writer := x.dial(ctx, drivers.Options{})
	watcher := x.dial(ctx, drivers.Options{LoseReply: either(x.losing(drivers.OpSync), away)})
	stopped, stays := watcher.watch(ctx, onNode, x.base), watcher.watch(ctx, onNode, x.base)
	x.wants("the sync whose reply was lost", watcher.Sync(ctx, x.base), drivers.ErrConnectionLoss)
	x.await(ctx, away.stopped, "the session to reconnect")
	stopped.stop()
	away.pass()
	x.learns(ctx, stays, drivers.Rearmed, 1)
	writer.set(ctx, x.base, "changed")
	watcher.flush(ctx)
	x.expectEvents(stopped)
	x.expectEvents(stays, "rearmed", "data changed "+x.base)
}

func keepClosedAway(ctx context.Context, x *trial) {
	away := x.holdReplyAtReconnect()
	c := x.dial(ctx, drivers.Options{LoseReply: either(x.losing(drivers.OpSync), away)})
	v := c.watch(ctx, onTree, x.base)
	x.wants("the sync whose reply was lost", c.Sync(ctx, x.base), drivers.ErrConnectionLoss)
	x.await(ctx, away.stopped, "the session to reconnect")
	x.atOnce(c.Close, func() error { away.pass(); return nil })
	x.learns(ctx, v, drivers.Lost, 1)
}
