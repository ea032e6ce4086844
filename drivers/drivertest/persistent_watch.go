package drivertest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/stampede-bench/stampede/drivers"
)

// A persistentWatch is a persistent watch that records its events. At the end of the case it is
// checked for how it ended.
type persistentWatch struct {
	what string
	end  func() // the stop function that the call returned

	mu      sync.Mutex
	heard   []drivers.Event
	grown   chan struct{} // closed and replaced with every event
	armed   bool          // the call returned nil
	stopped bool
	atStop  int // number of events at the stop
}

// An armFunc arms a persistent watch.
type armFunc func(c drivers.PersistentWatcher, ctx context.Context, path string, w drivers.Watch) (func(), error)

// onNode and onTree are the two kinds of persistent watch.
func onNode(c drivers.PersistentWatcher, ctx context.Context, path string, w drivers.Watch) (func(), error) {
	return c.WatchNode(ctx, path, w)
}

func onTree(c drivers.PersistentWatcher, ctx context.Context, path string, w drivers.Watch) (func(), error) {
	return c.WatchTree(ctx, path, w)
}

// onResumed is onTree with a watch that resumes.
func onResumed(c drivers.PersistentWatcher, ctx context.Context, path string, w drivers.Watch) (func(), error) {
	return drivers.ResumeTree(ctx, c, path, w)
}

// tryWatch arms a persistent watch or returns why it could not.
func (c *client) tryWatch(ctx context.Context, by armFunc, path string) (*persistentWatch, error) {
	p, ok := c.Conn.(drivers.PersistentWatcher)
	if !ok {
		return nil, fmt.Errorf("%T is no drivers.PersistentWatcher", c.Conn)
	}
	v := &persistentWatch{what: "the persistent watch on " + c.x.short(path), grown: make(chan struct{})}
	c.x.mu.Lock()
	c.x.watches = append(c.x.watches, v)
	c.x.mu.Unlock()
	end, err := by(p, ctx, path, v.hear)
	v.returned(end, err)
	return v, err
}

// watch arms a persistent watch, on the case's own goroutine.
func (c *client) watch(ctx context.Context, by armFunc, path string) *persistentWatch {
	c.x.Helper()
	v, err := c.tryWatch(ctx, by, path)
	if err != nil {
		c.x.Fatalf("arming a persistent watch on %s: %v", c.x.short(path), err)
	}
	return v
}

func (v *persistentWatch) hear(e drivers.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.heard = append(v.heard, e)
	close(v.grown)
	v.grown = make(chan struct{})
}

func (v *persistentWatch) returned(end func(), err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.end, v.armed = end, err == nil
}

// stop ends the watch. From now on it must not be called.
func (v *persistentWatch) stop() {
	v.end()
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.stopped {
		v.stopped, v.atStop = true, len(v.heard)
	}
}

// events returns the events so far, and a channel that is closed at the next one.
func (v *persistentWatch) events() ([]drivers.Event, <-chan struct{}) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.heard), v.grown
}

// short returns a path as the case names it.
func (x *trial) short(path string) string { return strings.TrimPrefix(path, x.base+"/") }

// words describes events with the nodes that they concern: "created a/b".
func (x *trial) words(events []drivers.Event) []string {
	var all []string
	for _, e := range events {
		what := e.Type.String()
		if e.Type != drivers.Lost && e.Type != drivers.Rearmed {
			what += " " + x.short(e.Path)
		}
		all = append(all, what)
	}
	return all
}

// expectEvents checks the events that the watch has got so far.
func (x *trial) expectEvents(v *persistentWatch, want ...string) {
	x.Helper()
	events, _ := v.events()
	if got := x.words(events); !slices.Equal(got, want) {
		x.Fatalf("%s got events %q, want %q", v.what, got, want)
	}
}

// learns waits until the watch has got n events of a type.
func (x *trial) learns(ctx context.Context, v *persistentWatch, t drivers.EventType, n int) {
	x.Helper()
	for {
		events, grown := v.events()
		found := 0
		for _, e := range events {
			if e.Type == t {
				found++
			}
		}
		if found >= n {
			return
		}
		x.await(ctx, grown, "%s to get %v; so far %q", v.what, t, x.words(events))
	}
}

// closeVigils checks, when all sessions have ended, that every persistent watch that was
// armed and not stopped was called with Lost, once and last, and that the others were not
// called.
func (x *trial) closeVigils(ctx context.Context) {
	for _, v := range x.watches {
		if v.armed && !v.stopped {
			x.learns(ctx, v, drivers.Lost, 1)
		}
	}
	for _, v := range x.watches {
		events, _ := v.events()
		lost := slices.IndexFunc(events, func(e drivers.Event) bool { return e.Type == drivers.Lost })
		switch {
		case !v.armed && len(events) > 0:
			x.Errorf("%s got events %q, though the call that was to arm it failed", v.what, x.words(events))
		case v.stopped && len(events) > v.atStop:
			x.Errorf("%s was stopped after %d events and told %q", v.what, v.atStop, x.words(events))
		case lost >= 0 && lost != len(events)-1:
			x.Errorf("%s got events %q, want nothing after the end", v.what, x.words(events))
		}
	}
}

// A change is a change with its position in the order of all writes.
type change struct {
	pos        int64
	node, tree string // the event that the watch gets for it
}

func keepEvery(ctx context.Context, x *trial) {
	const writers, rounds = 4, 40
	watcher := x.dial(ctx, drivers.Options{})
	watcher.create(ctx, x.path("a"), "", 0)
	node, tree := watcher.watch(ctx, onNode, x.path("a")), watcher.watch(ctx, onTree, x.path("a"))
	var mu sync.Mutex
	var changes []change
	storm := func(c *client, w int) error {
		for i := range rounds {
			set, err := c.Set(ctx, x.path("a"), nil, drivers.AnyVersion)
			name := fmt.Sprintf("a/%d-%d", w, i)
			_, err2 := c.Create(ctx, x.path(name), nil, 0)
			made, _, err3 := c.Exists(ctx, x.path(name), nil)
			if err := errors.Join(err, err2, err3); err != nil {
				return err
			}
			mu.Lock()
			changes = append(changes, change{set.Modified, "data changed a", "data changed a"},
				change{made.Created, "children changed a", "created " + name})
			mu.Unlock()
		}
		return nil
	}
	var all []func() error
	for w := range writers {
		c := x.dial(ctx, drivers.Options{})
		all = append(all, func() error { return storm(c, w) })
	}
	x.atOnce(all...)
	watcher.flush(ctx)
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.pos, b.pos) })
	var wantNode, wantTree []string
	for _, d := range changes {
		wantNode, wantTree = append(wantNode, d.node), append(wantTree, d.tree)
	}
	x.expectEvents(node, wantNode...)
	x.expectEvents(tree, wantTree...)
}

// keepTrials is how often arming a watch races writes.
const keepTrials = 100

func keepRaces(ctx context.Context, x *trial) {
	for _, by := range []armFunc{onNode, onTree} {
		writer, watcher := x.pair(ctx)
		writer.create(ctx, x.path("a"), "", 0)
		for range keepTrials {
			x.racesWrites(ctx, writer, watcher, by)
		}
		writer.remove(ctx, x.path("a"))
	}
}

// racesWrites arms a watch while another session makes five writes. The watch must get
// the last ones of these, and at least those that the read after the arming call did not
// show.
func (x *trial) racesWrites(ctx context.Context, writer, watcher *client, by armFunc) {
	x.Helper()
	var v *persistentWatch
	var seen, last drivers.Stat
	var written []int64
	x.atOnce(
		func() (err error) {
			for len(written) < 5 && err == nil {
				last, err = writer.Set(ctx, x.path("a"), nil, drivers.AnyVersion)
				written = append(written, last.Modified)
			}
			return err
		},
		func() (err error) {
			if v, err = watcher.tryWatch(ctx, by, x.path("a")); err == nil {
				_, seen, err = watcher.Get(ctx, x.path("a"), nil)
			}
			return err
		},
	)
	watcher.flush(ctx)
	events, _ := v.events()
	if missed := int(last.Version - seen.Version); len(events) < missed || len(events) > len(written) {
		x.Fatalf("%s got events %q: of five writes, the last %d of which the read after the call did not show", v.what, x.words(events), missed)
	}
	for i, e := range events {
		if want := written[len(written)-len(events)+i]; e.Pos != 0 && e.Pos != want {
			x.Fatalf("%s got an event for the write at %d, want that at %d of the writes at %v", v.what, e.Pos, want, written)
		}
	}
	v.stop()
}
