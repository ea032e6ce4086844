package drivertest

import (
	"context"
	"fmt"

	"github.com/stampede-bench/stampede/drivers"
)

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
