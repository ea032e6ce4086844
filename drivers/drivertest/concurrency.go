package drivertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/stampede-bench/stampede/drivers"
)

func concurrency() []testCase {
	return []testCase{
		{"one session", "many goroutines share one session, and each gets the replies to its own calls", oneSession},
		{"compare and set", "of several sessions that set the same version one succeeds: a counter that all increment loses nothing", compareAndSet},
		{"one creator", "of several sessions that create the same node one succeeds, the others get ErrNodeExists: one holds the lock", oneCreator},
		{"one deleter", "of several sessions that delete the same node one succeeds, the others get ErrNoNode: each queue item is taken once", oneDeleter},
		{"sequential", "nodes created at the same time get different Seqs, and a create that starts after another was answered gets a higher one", sequentialAtOnce},
		{"fan-out", "one change calls the watches of all sessions, each once: all clients pass the barrier", fanOut},
		{"watches of one session", "watches armed by many goroutines at the same time are each called for their own node", watchesOfOneSession},
	}
}

// crowd opens n sessions.
func (x *trial) crowd(ctx context.Context, n int) []*client {
	var all []*client
	for range n {
		all = append(all, x.dial(ctx, drivers.Options{}))
	}
	return all
}

// times returns n functions that call f with their index.
func times(n int, f func(i int) error) []func() error {
	var fs []func() error
	for i := range n {
		fs = append(fs, func() error { return f(i) })
	}
	return fs
}

func oneSession(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{})
	x.atOnce(times(32, func(i int) error {
		path := x.path(fmt.Sprint("own-", i))
		if _, err := c.Create(ctx, path, []byte(path), 0); err != nil {
			return err
		}
		for round := range int32(10) {
			data, stat, err := c.Get(ctx, path, nil)
			if err != nil || string(data) != path || stat.Version != round {
				return fmt.Errorf("get %s: %q, version %d, %v; want its path, version %d", path, data, stat.Version, err, round)
			}
			if stat, err = c.Set(ctx, path, []byte(path), round); err != nil || stat.Version != round+1 {
				return fmt.Errorf("set %s: version %d, %v; want %d", path, stat.Version, err, round+1)
			}
		}
		return c.Delete(ctx, path, 10)
	})...)
	x.lists(c.children(ctx, x.base, nil))
}

func compareAndSet(ctx context.Context, x *trial) {
	const sessions, each = 4, 25
	all := x.crowd(ctx, sessions)
	x.contest(ctx, all, drivers.ErrBadVersion, func(c *client, path string) error {
		_, err := c.Set(ctx, path, nil, 0)
		return err
	}, func(path string) {
		all[0].create(ctx, path, "", 0)
	})
	all[0].create(ctx, x.path("counter"), "0", 0)
	x.atOnce(times(sessions, func(i int) error {
		if err := all[i].Sync(ctx, x.base); err != nil {
			return err
		}
		for range each {
			if err := increment(ctx, all[i], x.path("counter")); err != nil {
				return err
			}
		}
		return nil
	})...)
	all[0].sync(ctx)
	if data, stat := all[0].get(ctx, x.path("counter"), nil); data != fmt.Sprint(sessions*each) || stat.Version != sessions*each {
		x.Errorf("%d increments made %q, version %d", sessions*each, data, stat.Version)
	}
}

func increment(ctx context.Context, c *client, path string) error {
	for {
		data, stat, err := c.Get(ctx, path, nil)
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(string(data))
		if err != nil {
			return err
		}
		_, err = c.Set(ctx, path, []byte(fmt.Sprint(n+1)), stat.Version)
		if !errors.Is(err, drivers.ErrBadVersion) {
			return err
		}
	}
}

// contest makes all sessions do the same at the same time, in several rounds. In each
// round one must succeed and the others must fail with the sentinel.
func (x *trial) contest(ctx context.Context, all []*client, loser error, do func(c *client, path string) error, before func(path string)) {
	x.Helper()
	for round := range 20 {
		path := x.path(fmt.Sprint("round-", round))
		before(path)
		var mu sync.Mutex
		winners := 0
		x.atOnce(times(len(all), func(i int) error {
			err := do(all[i], path)
			if err == nil {
				mu.Lock()
				defer mu.Unlock()
				winners++
			}
			return unless(err, loser)
		})...)
		if winners != 1 {
			x.Fatalf("%d of %d sessions succeeded, want one", winners, len(all))
		}
	}
}

func oneCreator(ctx context.Context, x *trial) {
	x.contest(ctx, x.crowd(ctx, 6), drivers.ErrNodeExists, func(c *client, path string) error {
		_, err := c.Create(ctx, path, nil, drivers.Ephemeral)
		return err
	}, func(string) {})
}

func oneDeleter(ctx context.Context, x *trial) {
	all := x.crowd(ctx, 6)
	x.contest(ctx, all, drivers.ErrNoNode, func(c *client, path string) error {
		return c.Delete(ctx, path, drivers.AnyVersion)
	}, func(path string) {
		all[0].create(ctx, path, "", 0)
	})
}

func sequentialAtOnce(ctx context.Context, x *trial) {
	const sessions, each = 4, 30
	all := x.crowd(ctx, sessions)
	var mu sync.Mutex
	var made []drivers.Child
	highest := drivers.NoSeq // of the creations answered so far
	x.atOnce(times(sessions*2, func(i int) error {
		for range each {
			mu.Lock()
			before := highest
			mu.Unlock()
			child, err := all[i%sessions].Create(ctx, x.path("n-"), nil, drivers.Sequential)
			if err != nil {
				return err
			}
			if child.Seq <= before {
				return fmt.Errorf("created %+v after one with Seq %d was answered", child, before)
			}
			mu.Lock()
			made = append(made, child)
			highest = max(highest, child.Seq)
			mu.Unlock()
		}
		return nil
	})...)
	slices.SortFunc(made, func(a, b drivers.Child) int { return int(a.Seq - b.Seq) })
	x.increasing(made)
	names := make([]string, len(made))
	for i, child := range made {
		names[i] = child.Name
	}
	all[0].sync(ctx)
	x.lists(all[0].children(ctx, x.base, nil), names...)
}

func fanOut(ctx context.Context, x *trial) {
	all := x.crowd(ctx, 16)
	listeners := make([]*listener, len(all))
	for i := range listeners {
		listeners[i] = listen()
	}
	all[0].create(ctx, x.path("barrier"), "", 0)
	x.atOnce(times(len(all), func(i int) error {
		if err := all[i].Sync(ctx, x.base); err != nil {
			return err
		}
		_, _, err := all[i].Exists(ctx, x.path("barrier"), listeners[i].hear)
		return err
	})...)
	all[0].remove(ctx, x.path("barrier"))
	for i, l := range listeners {
		x.hears(ctx, l, drivers.Deleted, x.path("barrier"))
		all[i].flush(ctx)
		x.expectCalls(l, "one of the sessions that watch", drivers.Deleted)
	}
}

func watchesOfOneSession(ctx context.Context, x *trial) {
	const n = 32
	writer, watcher := x.pair(ctx)
	x.atOnce(times(n, func(i int) error {
		path := x.path(fmt.Sprint(i))
		for range 5 {
			created, deleted := listen(), listen()
			if _, _, err := watcher.Exists(ctx, path, created.hear); err != nil {
				return err
			}
			if _, err := writer.Create(ctx, path, nil, 0); err != nil {
				return err
			}
			if err := created.expect(ctx, drivers.Created, path); err != nil {
				return err
			}
			if _, _, err := watcher.Get(ctx, path, deleted.hear); err != nil {
				return err
			}
			if err := writer.Delete(ctx, path, drivers.AnyVersion); err != nil {
				return err
			}
			if err := deleted.expect(ctx, drivers.Deleted, path); err != nil {
				return err
			}
		}
		return nil
	})...)
}
