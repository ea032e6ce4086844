package drivertest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/stampede-bench/stampede/drivers"
)

func order() []testCase {
	return []testCase{
		{"event before the data", "a watch is called before a read returns data newer than its own read returned: a client that sees new settings already knows that they have changed", eventBeforeData},
		{"event before the listing", "a watch is called before a listing returns that shows its change: a client that finds a node missing has been notified", eventBeforeListing},
		{"event before anything later", "a watch is called before any reply that shows a later write to any node: conclusions from other nodes are never ahead of the watch", eventBeforeLater},
		{"own watch before own reply", "a writer's own watch is called before its write returns", ownWatchFirst},
		{"on the wire", "a notification arrives before every reply whose position includes its change: fan-out is attributed by that", orderOnWire},
		{"events in order of changes", "one session's watches are called in the order of the changes", eventsInOrder},
		{"first in, first out", "the writes of one session are applied in the order in which they were sent, even if they do not wait for each other", firstInFirstOut},
		{"own writes are read", "a read shows the session's own writes that were sent before it, even if it does not wait for them", ownWritesRead},
		{EventsBeforeReconnected, "after a reconnect, the watches on all nodes that have changed are called before any reply, even if there are more watches than fit into one packet: 3,000 changes are not 1,284 events", eventsBeforeReconnected},
		{"never back in time", "what one session reads never goes back in time, even across nodes: a client that has seen a write sees all earlier ones", neverBack},
	}
}

// orderTrials is how often each order is tested.
const orderTrials = 200

// chase makes one session arm a watch and then read until it sees the write that another
// session makes at the same time. By then the watch must have been called.
func (x *trial) chase(ctx context.Context, arm func(w drivers.Watch), write, sees func() (bool, error)) {
	x.Helper()
	for i := range orderTrials {
		l := listen()
		arm(l.hear)
		x.atOnce(
			func() error { _, err := write(); return err },
			func() error {
				for {
					seen, err := sees()
					if err != nil {
						return err
					}
					if seen {
						break
					}
					runtime.Gosched() // lets the writer run if there is only one processor
				}
				if len(l.events()) == 0 {
					return fmt.Errorf("trial %d: a reply showed the change before the watch was called", i)
				}
				return nil
			},
		)
	}
}

func eventBeforeData(ctx context.Context, x *trial) {
	writer, watcher := x.pair(ctx)
	var armed drivers.Stat
	x.chase(ctx,
		func(w drivers.Watch) { watcher.sync(ctx); _, armed = watcher.get(ctx, x.base, w) },
		func() (bool, error) {
			_, err := writer.Set(ctx, x.base, nil, drivers.AnyVersion)
			return true, err
		},
		func() (bool, error) {
			_, stat, err := watcher.Get(ctx, x.base, nil)
			return stat.Version > armed.Version, err
		})
}

func eventBeforeListing(ctx context.Context, x *trial) {
	writer, watcher := x.pair(ctx)
	armed := 0
	x.chase(ctx,
		func(w drivers.Watch) { watcher.sync(ctx); armed = len(watcher.children(ctx, x.base, w)) },
		func() (bool, error) {
			_, err := writer.Create(ctx, x.path("n-"), nil, drivers.Sequential)
			return true, err
		},
		func() (bool, error) {
			children, err := watcher.Children(ctx, x.base, nil)
			return len(children) > armed, err
		})
}

func eventBeforeLater(ctx context.Context, x *trial) {
	writer, watcher := x.pair(ctx)
	writer.create(ctx, x.path("first"), "", 0)
	writer.create(ctx, x.path("second"), "", 0)
	var armed drivers.Stat
	x.chase(ctx,
		func(w drivers.Watch) {
			watcher.sync(ctx)
			_, armed = watcher.get(ctx, x.path("second"), nil)
			watcher.get(ctx, x.path("first"), w)
		},
		func() (bool, error) {
			_, first := writer.Set(ctx, x.path("first"), nil, drivers.AnyVersion)
			_, second := writer.Set(ctx, x.path("second"), nil, drivers.AnyVersion)
			return true, errors.Join(first, second)
		},
		func() (bool, error) {
			_, stat, err := watcher.Get(ctx, x.path("second"), nil)
			return stat.Version > armed.Version, err
		})
}

func ownWatchFirst(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{})
	path := x.path("a")
	for range orderTrials {
		presence, above := listen(), listen()
		c.exists(ctx, path, presence.hear)
		c.children(ctx, x.base, above.hear)
		c.create(ctx, path, "", 0)
		x.expectCalls(presence, "exists, when the session's own create has returned", drivers.Created)
		x.expectCalls(above, "children, when the session's own create has returned", drivers.ChildrenChanged)
		data := listen()
		c.get(ctx, path, data.hear)
		c.set(ctx, path, "changed")
		x.expectCalls(data, "get, when the session's own set has returned", drivers.DataChanged)
		gone := listen()
		c.get(ctx, path, gone.hear)
		c.remove(ctx, path)
		x.expectCalls(gone, "get, when the session's own delete has returned", drivers.Deleted)
	}
}

func orderOnWire(ctx context.Context, x *trial) {
	t := newRecording()
	writer := x.dial(ctx, drivers.Options{})
	watcher := x.dial(ctx, drivers.Options{Probe: t})
	var changes []int64 // positions of the watched changes, in order
	for range orderTrials {
		l := listen()
		watcher.sync(ctx)
		watcher.get(ctx, x.base, l.hear)
		var change int64
		x.atOnce(
			func() error {
				stat, err := writer.Set(ctx, x.base, nil, drivers.AnyVersion)
				change = stat.Modified
				return err
			},
			func() error {
				_, _, err := watcher.Get(ctx, x.base, nil)
				return err
			},
		)
		changes = append(changes, change)
		x.hears(ctx, l, drivers.DataChanged, x.base)
	}
	told := 0
	for _, m := range t.all(func(m drivers.Message) bool { return m.Kind == drivers.Notification || m.Op.IsRead() }) {
		switch {
		case m.Kind == drivers.Notification:
			told++
		case m.Kind == drivers.Reply && told < len(changes) && m.Pos >= changes[told]:
			x.Fatalf("a reply at position %d passed before the notification of the change at %d", m.Pos, changes[told])
		}
	}
	if told != len(changes) {
		x.Errorf("%d notifications passed for %d changes", told, len(changes))
	}
}

func eventsInOrder(ctx context.Context, x *trial) {
	const n = 20
	writer, watcher := x.pair(ctx)
	var mu sync.Mutex
	var told, want []string
	for i := range n {
		want = append(want, x.path(fmt.Sprint(i)))
		watcher.exists(ctx, want[i], func(e drivers.Event) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, e.Path)
		})
	}
	for _, path := range want {
		writer.create(ctx, path, "", 0)
	}
	watcher.flush(ctx)
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(told, want) {
		x.Errorf("watches were called for %q, want the order of the changes %q", told, want)
	}
}

func firstInFirstOut(ctx context.Context, x *trial) {
	const n = 100
	t := newRecording()
	c := x.dial(ctx, drivers.Options{Probe: t})
	stats := make([]drivers.Stat, n)
	calls := times(n, func(i int) error {
		// Each write is sent after the one before has been sent, whether or not that is
		// answered.
		if err := t.grows(ctx, i, requestOf(drivers.OpSet)); err != nil {
			return err
		}
		stat, err := c.Set(ctx, x.base, []byte(fmt.Sprint(i)), drivers.AnyVersion)
		stats[i] = stat
		return err
	})
	x.atOnce(calls...)
	for i, stat := range stats {
		if stat.Version != int32(i+1) {
			x.Fatalf("the write that was sent as number %d was applied as number %d", i+1, stat.Version)
		}
	}
}

func ownWritesRead(ctx context.Context, x *trial) {
	t := newRecording()
	c := x.dial(ctx, drivers.Options{Probe: t})
	for i := range orderTrials {
		x.atOnce(
			func() error {
				_, err := c.Set(ctx, x.base, nil, drivers.AnyVersion)
				return err
			},
			func() error {
				if err := t.grows(ctx, i+1, requestOf(drivers.OpSet)); err != nil {
					return err
				}
				_, stat, err := c.Get(ctx, x.base, nil)
				if err == nil && stat.Version != int32(i+1) {
					err = fmt.Errorf("a read sent after write %d shows version %d", i+1, stat.Version)
				}
				return err
			},
		)
	}
}

func neverBack(ctx context.Context, x *trial) {
	writer, reader := x.pair(ctx)
	writer.create(ctx, x.path("first"), "", 0)
	writer.create(ctx, x.path("second"), "", 0)
	reader.sync(ctx)
	x.atOnce(
		func() error {
			for range orderTrials {
				_, first := writer.Set(ctx, x.path("first"), nil, drivers.AnyVersion)
				_, second := writer.Set(ctx, x.path("second"), nil, drivers.AnyVersion)
				if err := errors.Join(first, second); err != nil {
					return err
				}
			}
			return nil
		},
		func() error {
			var last int32
			for last < orderTrials {
				_, second, err := reader.Get(ctx, x.path("second"), nil)
				if err != nil {
					return err
				}
				_, first, err := reader.Get(ctx, x.path("first"), nil)
				if err != nil {
					return err
				}
				if second.Version < last || first.Version < second.Version {
					return fmt.Errorf("read version %d of the second node and then %d of the first, after %d of the second",
						second.Version, first.Version, last)
				}
				last = second.Version
			}
			return nil
		},
	)
}

// manyWatches is a number of watches that takes several packets to arm again, with paths
// of at least longName characters: clients put at most 128 KB into one packet.
const (
	manyWatches = 300
	longName    = 1000
)

func eventsBeforeReconnected(ctx context.Context, x *trial) {
	away := x.holdReplyAtReconnect()
	writer := x.dial(ctx, drivers.Options{})
	watcher := x.dial(ctx, drivers.Options{LoseReply: either(x.losing(drivers.OpSync), away)})
	long := strings.Repeat("n", longName)
	listeners := make([]*listener, manyWatches)
	for i := range listeners {
		path := x.path(fmt.Sprintf("%s%d", long, i))
		writer.create(ctx, path, "", 0)
	}
	watcher.flush(ctx)
	for i := range listeners {
		listeners[i] = listen()
		watcher.get(ctx, x.path(fmt.Sprintf("%s%d", long, i)), listeners[i].hear)
	}
	x.wants("the sync whose reply was lost", watcher.Sync(ctx, x.base), drivers.ErrConnectionLoss)
	x.await(ctx, away.stopped, "the session to reconnect")
	for i := range listeners {
		writer.set(ctx, x.path(fmt.Sprintf("%s%d", long, i)), "changed")
	}
	away.pass()
	watcher.flush(ctx)
	fired := 0
	for _, l := range listeners {
		fired += len(l.events())
	}
	if fired != manyWatches {
		x.Errorf("%d watches were called before the first reply after the reconnect, want %d", fired, manyWatches)
	}
}
