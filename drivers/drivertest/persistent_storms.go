package drivertest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/stampede-bench/stampede/drivers"
)

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
