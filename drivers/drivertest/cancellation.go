package drivertest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

func cancellation() []testCase {
	return []testCase{
		{"before", "a call whose context has ended fails with the context's cause, and the session stays alive: a recipe that is stopped can still clean up", cancelledBefore},
		{"during", "a call returns when its context ends, answered or not, and the session stays alive: a slow service does not delay a client that cancels", cancelledDuring},
		{"deadline", "a call returns when its deadline passes, with context.DeadlineExceeded", deadlinePasses},
		{"its watch", "a call that the context ended never calls its watch, even if the service has armed it: the caller no longer needs it", cancelledWatch},
		{"watch outlives the context", "a context bounds the call and not the watch: a watch armed under a context that has ended since still fires once", watchOutlivesContext},
		{"abandoned", "watches that no client waits for have no effect, however many there are: clients that cancel leave theirs behind", abandoned},
		{"write order", "a write that the context ended is not applied after a later call was answered: it cannot undo the caller's clean-up", cancelledWrite},
		{"cancelled at any time", "a context may end just as the reply arrives: either the call succeeds and its watch is armed, or it fails and its watch is never called", cancelledAnyTime},
	}
}

var errGivenUp = errors.New("given up")

func cancelledBefore(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{})
	caused, giveUp := context.WithCancelCause(ctx)
	giveUp(errGivenUp)
	plain, cancel := context.WithCancel(ctx)
	cancel()
	for want, ended := range map[error]context.Context{errGivenUp: caused, context.Canceled: plain} {
		check := func(what string, err error) { x.Helper(); x.wants(what+" with a context that has ended", err, want) }
		_, err := c.Create(ended, x.path("a"), nil, 0)
		check("create", err)
		check("delete", c.Delete(ended, x.base, drivers.AnyVersion))
		_, err = c.Set(ended, x.base, nil, drivers.AnyVersion)
		check("set", err)
		_, _, err = c.Exists(ended, x.base, func(drivers.Event) {})
		check("exists", err)
		_, _, err = c.Get(ended, x.base, func(drivers.Event) {})
		check("get", err)
		_, err = c.Children(ended, x.base, func(drivers.Event) {})
		check("children", err)
		check("sync", c.Sync(ended, x.base))
	}
	c.get(ctx, x.base, nil)
}

func cancelledDuring(ctx context.Context, x *trial) {
	g := x.holdReply(drivers.OpGet)
	c := x.dial(ctx, drivers.Options{LoseReply: g.ask})
	giving, giveUp := context.WithCancelCause(ctx)
	x.atOnce(
		func() error {
			_, _, err := c.Get(giving, x.base, nil)
			return unless(err, errGivenUp)
		},
		func() error {
			defer giveUp(errGivenUp)
			return g.reached(ctx)
		},
	)
	g.pass()
	c.create(ctx, x.path("a"), "after", 0)
	if data, _ := c.get(ctx, x.path("a"), nil); data != "after" {
		x.Errorf("after a cancelled call get returned %q, which belongs to another call", data)
	}
}

func deadlinePasses(ctx context.Context, x *trial) {
	g := x.holdReply(drivers.OpGet)
	c := x.dial(ctx, drivers.Options{LoseReply: g.ask})
	passed, cancel := context.WithDeadline(ctx, time.Unix(0, 0))
	defer cancel()
	_, err := c.Create(passed, x.path("a"), nil, 0)
	x.wants("create after the deadline", err, context.DeadlineExceeded)
	soon, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	_, _, err = c.Get(soon, x.base, nil)
	x.wants("get that is not answered by the deadline", err, context.DeadlineExceeded)
	g.pass()
	c.get(ctx, x.base, nil)
}

func cancelledWatch(ctx context.Context, x *trial) {
	g := x.holdReply(drivers.OpGet)
	c := x.dial(ctx, drivers.Options{LoseReply: g.ask})
	writer := x.dial(ctx, drivers.Options{})
	l := listen()
	giving, giveUp := context.WithCancelCause(ctx)
	x.atOnce(
		func() error {
			_, _, err := c.Get(giving, x.base, l.hear)
			return unless(err, errGivenUp)
		},
		func() error {
			defer giveUp(errGivenUp)
			return g.reached(ctx)
		},
	)
	g.pass()
	c.sync(ctx)
	writer.set(ctx, x.base, "changed")
	c.flush(ctx)
	c.close()
	x.expectCalls(l, "the watch of a cancelled get")
}

func watchOutlivesContext(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{})
	arming, cancel := context.WithCancel(ctx)
	l := listen()
	c.get(arming, x.base, l.hear)
	cancel()
	c.flush(ctx)
	x.expectCalls(l, "a watch whose arming context has ended")
	c.set(ctx, x.base, "changed")
	x.hears(ctx, l, drivers.DataChanged, x.base)
}

func abandoned(ctx context.Context, x *trial) {
	writer, c := x.pair(ctx)
	waiting, giveUp := context.WithCancelCause(ctx)
	giveUp(errGivenUp)
	for i := range 200 {
		var w drivers.Wait
		c.get(ctx, x.base, w.Fire)
		_, err := w.Await(waiting)
		x.wants(fmt.Sprintf("wait %d, given up", i), err, errGivenUp)
	}
	l := listen()
	c.get(ctx, x.base, l.hear)
	writer.set(ctx, x.base, "changed")
	x.hears(ctx, l, drivers.DataChanged, x.base)
	c.get(ctx, x.base, nil)
}

func cancelledWrite(ctx context.Context, x *trial) {
	g := x.holdReply(drivers.OpSet)
	c := x.dial(ctx, drivers.Options{LoseReply: g.ask})
	giving, giveUp := context.WithCancelCause(ctx)
	x.atOnce(
		func() error {
			_, err := c.Set(giving, x.base, []byte("given up"), drivers.AnyVersion)
			return unless(err, errGivenUp)
		},
		func() error {
			defer giveUp(errGivenUp)
			return g.reached(ctx)
		},
	)
	g.pass()
	stat := c.set(ctx, x.base, "later")
	c.flush(ctx)
	if data, now := c.get(ctx, x.base, nil); data != "later" || now.Modified != stat.Modified {
		x.Errorf("after the later set was answered the node has %q, %+v; want %q, %+v", data, now, "later", stat)
	}
}

func cancelledAnyTime(ctx context.Context, x *trial) {
	var rival atomic.Pointer[func()]
	c := x.dial(ctx, drivers.Options{LoseReply: func(m drivers.Message) bool {
		if cancel := rival.Load(); cancel != nil && m.Op == drivers.OpGet {
			(*cancel)()
		}
		return false
	}})
	failed := 0
	for i := range 300 {
		giving, giveUp := context.WithCancelCause(ctx)
		cancel := func() { giveUp(errGivenUp) }
		if i%2 == 0 {
			cancel = func() { go giveUp(errGivenUp) }
		}
		rival.Store(&cancel)
		_, _, err := c.Get(giving, x.base, func(drivers.Event) {})
		if err != nil {
			x.wants("a get that the context ended", err, errGivenUp)
			failed++
		}
		giveUp(nil)
		rival.Store(nil)
		c.set(ctx, x.base, "changed")
	}
	x.Logf("the context won %d of 300 times", failed)
	c.flush(ctx)
	x.audit(ctx)
}
