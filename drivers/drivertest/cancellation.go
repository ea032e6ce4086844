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
	soon, cancel := soon(ctx)
	defer cancel()
	_, _, err = c.Get(soon, x.base, nil)
	x.wants("get that is not answered by the deadline", err, context.DeadlineExceeded)
	g.pass()
	c.get(ctx, x.base, nil)
}

// soon returns a context for a call that is not answered before the deadline has passed, however late that is.
func soon(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, time.Millisecond)
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

const raceWhy = "a read that arms a watch and a write at the same time: either the read shows the write and the watch does not fire for it, " +
	"or it does not and the watch fires; a lost event would hang a recipe for ever, a surplus one is a needless wake-up"

func races() []testCase {
	return []testCase{
		{"get and set", raceWhy, raceGet},
		{"exists and create", raceWhy, raceExists},
		{"children and create", raceWhy, raceChildren},
		{"exists and delete", raceWhy, raceDelete},
	}
}

// raceTrials is how often each read races each write.
const raceTrials = 200

// A race is a read that arms a watch and a write that the watch covers.
type race struct {
	prepare func(path string) error // before each trial
	// read reports whether what it read contains the write.
	read  func(path string, w drivers.Watch) (contained bool, err error)
	write func(path string) error
	again func(path string) error // another change that the watch covers
	want  drivers.EventType
}

// run makes read and write race in many trials, each on a node of its own. If the read
// contained the write, the watch must still be armed: a further change must fire it.
func (r race) run(ctx context.Context, x *trial, watcher *client) {
	contained := 0
	for i := range raceTrials {
		path := x.path(fmt.Sprint(i))
		if err := r.prepare(path); err != nil {
			x.Fatalf("preparing a trial: %v", err)
		}
		watcher.sync(ctx)
		l := listen()
		saw := false
		x.atOnce(
			func() error { return r.write(path) },
			func() (err error) { saw, err = r.read(path, l.hear); return err },
		)
		if !saw {
			x.hears(ctx, l, r.want, path)
			continue
		}
		contained++
		watcher.flush(ctx)
		x.expectCalls(l, "a watch whose read contained the only write")
		if err := r.again(path); err != nil {
			x.Fatalf("changing the node once more: %v", err)
		}
		x.await(ctx, l.first, "the watch to fire for a change after the one that its read contained, trial %d", i)
	}
	x.Logf("the read contained the write in %d of %d trials", contained, raceTrials)
}

func raceGet(ctx context.Context, x *trial) {
	writer, watcher := x.pair(ctx)
	set := func(path string) error {
		_, err := writer.Set(ctx, path, nil, drivers.AnyVersion)
		return err
	}
	race{
		prepare: func(path string) error {
			_, err := writer.Create(ctx, path, nil, 0)
			return err
		},
		write: set,
		read: func(path string, w drivers.Watch) (bool, error) {
			_, stat, err := watcher.Get(ctx, path, w)
			return stat.Version > 0, err
		},
		again: set,
		want:  drivers.DataChanged,
	}.run(ctx, x, watcher)
}

func raceExists(ctx context.Context, x *trial) {
	writer, watcher := x.pair(ctx)
	race{
		prepare: func(string) error { return nil },
		write: func(path string) error {
			_, err := writer.Create(ctx, path, nil, 0)
			return err
		},
		read: func(path string, w drivers.Watch) (bool, error) {
			_, found, err := watcher.Exists(ctx, path, w)
			return found, err
		},
		again: func(path string) error { return writer.Delete(ctx, path, drivers.AnyVersion) },
		want:  drivers.Created,
	}.run(ctx, x, watcher)
}

func raceChildren(ctx context.Context, x *trial) {
	writer, watcher := x.pair(ctx)
	race{
		prepare: func(path string) error {
			_, err := writer.Create(ctx, path, nil, 0)
			return err
		},
		write: func(path string) error {
			_, err := writer.Create(ctx, path+"/n-", nil, drivers.Sequential)
			return err
		},
		read: func(path string, w drivers.Watch) (bool, error) {
			children, err := watcher.Children(ctx, path, w)
			return len(children) > 0, err
		},
		again: func(path string) error {
			_, err := writer.Create(ctx, path+"/again", nil, 0)
			return err
		},
		want: drivers.ChildrenChanged,
	}.run(ctx, x, watcher)
}

func raceDelete(ctx context.Context, x *trial) {
	writer, watcher := x.pair(ctx)
	create := func(path string) error {
		_, err := writer.Create(ctx, path, nil, 0)
		return err
	}
	race{
		prepare: create,
		write:   func(path string) error { return writer.Delete(ctx, path, drivers.AnyVersion) },
		read: func(path string, w drivers.Watch) (bool, error) {
			_, found, err := watcher.Exists(ctx, path, w)
			return !found, err
		},
		again: create,
		want:  drivers.Deleted,
	}.run(ctx, x, watcher)
}
