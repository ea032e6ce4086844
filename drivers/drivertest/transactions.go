package drivertest

import (
	"context"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/drivers"
)

func transactions() []testCase {
	return []testCase{
		{"all", "SetAll sets all nodes by one write, and returns the Stat of each as a read shows it: clients never see half of a change", setsAll},
		{"none", "SetAll changes nothing if one node has another version (ErrBadVersion) or is missing (ErrNoNode), and the session continues", setsNone},
		{"watches", "SetAll fires the watch on each node that it sets, once", setAllFires},
		{"probe", "a Probe sees one multi, whose parts are the sets in their order: a transaction is counted as one write", probeSetAll},
	}
}

// setAll returns the sets of the nodes, and a function that executes them.
func (c *client) setAll(ctx context.Context, sets ...drivers.Call) ([]drivers.Stat, error) {
	c.x.Helper()
	t, ok := c.Conn.(drivers.Transactor)
	if !ok {
		c.x.Fatalf("%T is no drivers.Transactor", c.Conn)
	}
	return t.SetAll(ctx, sets)
}

func setTo(path, data string, version int32) drivers.Call {
	return drivers.Call{Op: drivers.OpSet, Path: path, Data: []byte(data), Version: version}
}

// made creates nodes with the data "old", and returns their paths.
func (c *client) made(ctx context.Context, names ...string) (paths []string) {
	for _, name := range names {
		c.create(ctx, c.x.path(name), "old", 0)
		paths = append(paths, c.x.path(name))
	}
	return paths
}

func setsAll(ctx context.Context, x *trial) {
	c, onlooker := x.pair(ctx)
	p := c.made(ctx, "a", "b", "c")
	c.set(ctx, p[1], "new")
	stats, err := c.setAll(ctx, setTo(p[0], "A", drivers.AnyVersion), setTo(p[1], "B", 1), setTo(p[2], "", 0))
	if err != nil || len(stats) != 3 {
		x.Fatalf("returned %d stats, %v", len(stats), err)
	}
	onlooker.sync(ctx)
	for i, want := range []struct {
		data    string
		version int32
	}{{"A", 1}, {"B", 2}, {"", 1}} {
		data, stat := onlooker.get(ctx, p[i], nil)
		if data != want.data || stat.Version != want.version || stat != stats[i] {
			x.Errorf("node %d has %q and %+v, want %q, version %d and the returned %+v", i, data, stat, want.data, want.version, stats[i])
		}
		if stat.Modified != stats[0].Modified {
			x.Errorf("node %d was written at %d, node 0 at %d; want one write", i, stat.Modified, stats[0].Modified)
		}
	}
}

func setsNone(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{})
	p := c.made(ctx, "a", "b", "c")
	_, err := c.setAll(ctx, setTo(p[0], "A", 0), setTo(p[1], "B", 7), setTo(p[2], "C", 0))
	x.wants("one with another version", err, drivers.ErrBadVersion)
	_, err = c.setAll(ctx, setTo(p[0], "A", 0), setTo(p[1], "B", 0), setTo(x.path("none"), "C", drivers.AnyVersion))
	x.wants("one that is missing", err, drivers.ErrNoNode)
	for _, path := range p {
		if data, stat := c.get(ctx, path, nil); data != "old" || stat.Version != 0 {
			x.Errorf("%s has %q, version %d after transactions that failed", x.short(path), data, stat.Version)
		}
	}
	if _, err := c.setAll(ctx, setTo(p[0], "A", 0)); err != nil {
		x.Errorf("a transaction of one, after these: %v", err)
	}
}

func setAllFires(ctx context.Context, x *trial) {
	c, watcher := x.pair(ctx)
	p := c.made(ctx, "a", "b", "c")
	fired := make(chan drivers.Event, 2*len(p))
	watcher.sync(ctx)
	for _, path := range p[:2] {
		watcher.get(ctx, path, func(e drivers.Event) { fired <- e })
	}
	if _, err := c.setAll(ctx, setTo(p[0], "A", 0), setTo(p[1], "B", 0), setTo(p[2], "C", 0)); err != nil {
		x.Fatal(err)
	}
	watcher.flush(ctx)
	var paths []string
	for len(fired) > 0 {
		e := <-fired
		if e.Type != drivers.DataChanged {
			x.Errorf("fired with %v", e)
		}
		paths = append(paths, e.Path)
	}
	if slices.Sort(paths); !slices.Equal(paths, p[:2]) {
		x.Errorf("watches on %q fired, want those on %q, once each", paths, p[:2])
	}
}

func probeSetAll(ctx context.Context, x *trial) {
	seen := newRecording()
	c := x.dial(ctx, drivers.Options{Probe: seen})
	p := c.made(ctx, "a", "b")
	if _, err := c.setAll(ctx, setTo(p[0], "A", 0), setTo(p[1], "B", 0)); err != nil {
		x.Fatal(err)
	}
	_, err := c.setAll(ctx, setTo(p[0], "A", 1), setTo(p[1], "B", 0))
	x.wants("another version", err, drivers.ErrBadVersion)
	multis, _ := seen.matching(func(m drivers.Message) bool { return m.Op == drivers.OpMulti })
	sets, _ := seen.matching(requestOf(drivers.OpSet))
	if len(multis) != 4 || len(sets) != 0 {
		x.Fatalf("%d messages of multis and %d sets, want two requests with two replies", len(multis), len(sets))
	}
	for i, m := range multis {
		var want, part error
		if i == 3 {
			want, part = drivers.ErrBadVersion, drivers.ErrBadVersion
		}
		if m.Err != want || len(m.Parts) != 2 || m.Size <= 0 || m.Kind == drivers.Reply && want == nil && m.Pos == 0 {
			x.Fatalf("message %d: %+v", i, m)
		}
		for j, t := range m.Parts {
			if t.Op != drivers.OpSet || !strings.HasSuffix(string(t.Path), p[j]) || (t.Err != nil) != (want != nil) {
				x.Errorf("message %d, part %d: %+v", i, j, t)
			}
		}
		if i == 3 && m.Parts[1].Err != part {
			x.Errorf("the part with another version has %v", m.Parts[1].Err)
		}
	}
}
