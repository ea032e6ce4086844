package zookeeper

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/internal/testenv"
)

func TestWatchKinds(t *testing.T) {
	f := onLocal(t)
	c, other := f.dial(t, drivers.Options{}), f.dial(t, drivers.Options{})
	exists := func(p string, w drivers.Watch) error { _, _, err := c.Exists(f.ctx, p, w); return err }
	get := func(p string, w drivers.Watch) error { _, _, err := c.Get(f.ctx, p, w); return err }
	list := func(p string, w drivers.Watch) error { _, err := c.Children(f.ctx, p, w); return err }
	create := func(p string) error { _, err := other.Create(f.ctx, p, nil, 0); return err }
	remove := func(p string) error { return other.Delete(f.ctx, p, drivers.AnyVersion) }
	set := func(p string) error { _, err := other.Set(f.ctx, p, nil, drivers.AnyVersion); return err }
	below := func(p string) error { return create(p + "/child") }
	for _, tc := range []struct {
		name   string
		exists bool
		arm    func(string, drivers.Watch) error
		quiet  func(string) error // fires no watch
		change func(string) error
		want   drivers.EventType
	}{
		{"exists of a missing node", false, exists, nil, create, drivers.Created},
		{"exists, set", true, exists, below, set, drivers.DataChanged},
		{"exists, deleted", true, exists, nil, remove, drivers.Deleted},
		{"get, set", true, get, below, set, drivers.DataChanged},
		{"get, deleted", true, get, nil, remove, drivers.Deleted},
		{"children, created", true, list, set, below, drivers.ChildrenChanged},
		{"children, deleted", true, list, set, remove, drivers.Deleted},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRecorder()
			p := f.root + "/missing"
			if tc.exists {
				p = f.create(t, other, "n-", drivers.Sequential)
			}
			if err := tc.arm(p, r.watch); err != nil {
				t.Fatal(err)
			}
			if tc.quiet != nil {
				if err := errors.Join(tc.quiet(p), c.Flush(f.ctx)); err != nil || len(r.events) != 0 {
					t.Fatalf("%d events, %v; want none yet", len(r.events), err)
				}
			}
			if err := errors.Join(tc.change(p), c.Flush(f.ctx)); err != nil {
				t.Fatal(err)
			}
			if e := r.only(t); e.Type != tc.want || e.Path != p {
				t.Errorf("event %+v, want %v of %s", e, tc.want, p)
			}
		})
	}
	if n := len(c.watches.armed); n != 0 {
		t.Errorf("%d paths are still watched, want none", n)
	}
}

// A writer's own watch is called before its write returns, and a watch is called before a read
// shows the change.
func TestWatchOrder(t *testing.T) {
	f := onLocal(t)
	c, other := f.dial(t, drivers.Options{}), f.dial(t, drivers.Options{})
	for range 100 {
		own := newRecorder()
		if _, _, err := c.Get(f.ctx, f.root, own.watch); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Set(f.ctx, f.root, nil, drivers.AnyVersion); err != nil {
			t.Fatal(err)
		}
		own.only(t)
		foreign := newRecorder()
		_, before, err := c.Get(f.ctx, f.root, foreign.watch)
		if err != nil {
			t.Fatal(err)
		}
		written := make(chan error, 1)
		go func() {
			_, err := other.Set(f.ctx, f.root, nil, drivers.AnyVersion)
			written <- err
		}()
		for after := before; after == before; {
			if _, after, err = c.Get(f.ctx, f.root, nil); err != nil {
				t.Fatal(err)
			}
		}
		foreign.only(t)
		if err := <-written; err != nil {
			t.Fatal(err)
		}
	}
}

func TestNoWatchAfterAnError(t *testing.T) {
	f := onLocal(t)
	c := f.dial(t, drivers.Options{})
	p, r := f.root+"/a", newRecorder()
	if _, _, err := c.Get(f.ctx, p, r.watch); !errors.Is(err, drivers.ErrNoNode) {
		t.Fatal(err)
	}
	if _, err := c.Children(f.ctx, p, r.watch); !errors.Is(err, drivers.ErrNoNode) {
		t.Fatal(err)
	}
	f.create(t, c, "a", 0)
	_, err := c.Set(f.ctx, p, nil, 0)
	if err := errors.Join(err, c.Flush(f.ctx), c.Close()); err != nil {
		t.Fatal(err)
	}
	if n := len(r.events); n != 0 {
		t.Errorf("the watch was called %d times, want never", n)
	}
}

// Many goroutines watch one node through one session while it changes: every watch is called
// once, with a change if there was one after its read.
func TestWatchesOfOnePath(t *testing.T) {
	f := onLocal(t)
	c, other := f.dial(t, drivers.Options{}), f.dial(t, drivers.Options{})
	const writes, readers, reads = 60, 4, 60
	type armed struct {
		version int32
		*recorder
	}
	all := make([][]armed, readers)
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() {
			for range reads {
				r := newRecorder()
				_, st, err := c.Get(f.ctx, f.root, r.watch)
				if err != nil {
					t.Error(err)
					return
				}
				all[i] = append(all[i], armed{st.Version, r})
			}
		})
	}
	for range writes {
		if _, err := other.Set(f.ctx, f.root, nil, drivers.AnyVersion); err != nil {
			t.Fatal(err)
		}
	}
	wg.Wait()
	if err := errors.Join(c.Flush(f.ctx), c.Close()); err != nil {
		t.Fatal(err)
	}
	for _, of := range all {
		for _, a := range of {
			want := drivers.DataChanged
			if a.version == writes {
				want = drivers.Lost
			}
			if e := a.only(t); e.Type != want {
				t.Fatalf("read version %d of %d: event %v, want %v", a.version, writes, e.Type, want)
			}
		}
	}
}

// Reads that arm watches, changes, abandoned reads and Close run at the same time: the watch
// of a read that succeeded is called once, the watch of a read that failed never.
func TestWatchesWhileClosing(t *testing.T) {
	testenv.SkipIfShort(t)
	f := onLocal(t)
	other := f.dial(t, drivers.Options{})
	for range 20 {
		c := f.dial(t, drivers.Options{})
		var wg sync.WaitGroup
		reads := make([][]armedRead, 4)
		for i := range reads {
			wg.Go(func() { reads[i] = readUntilLost(f.ctx, c, f.root) })
		}
		for range 10 {
			if _, err := other.Set(f.ctx, f.root, nil, drivers.AnyVersion); err != nil {
				t.Fatal(err)
			}
		}
		c.Close()
		wg.Wait()
		for _, of := range reads {
			for _, r := range of {
				want := 1
				if r.err != nil {
					want = 0
				}
				if n := len(r.events); n != want {
					t.Fatalf("read with %v: its watch was called %d times, want %d", r.err, n, want)
				}
			}
		}
	}
}

type armedRead struct {
	*recorder
	err error
}

// readUntilLost arms a watch with each read. It cancels every other read at about the time
// that a read takes.
func readUntilLost(ctx context.Context, c *Conn, path string) (all []armedRead) {
	for i := 0; ; i++ {
		r := armedRead{recorder: newRecorder()}
		ctx, cancel := context.WithCancel(ctx)
		if i%2 == 0 {
			time.AfterFunc(time.Duration(i%200)*2*time.Microsecond, cancel)
		}
		_, _, r.err = c.Get(ctx, path, r.watch)
		cancel()
		all = append(all, r)
		if errors.Is(r.err, drivers.ErrSessionLost) {
			return all
		}
	}
}

// An abandoned read leaves no watch, whenever its reply arrives.
func TestAbandonedReads(t *testing.T) {
	f := onLocal(t)
	c, v := f.through(t, drivers.Options{})
	r := newRecorder()
	v.set(true, false)
	ctx, cancel := context.WithCancel(f.ctx)
	failed := make(chan error)
	go func() {
		_, _, err := c.Get(ctx, f.root, r.watch)
		failed <- err
	}()
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	v.set(false, false)
	again := newRecorder()
	if _, _, err := c.Get(f.ctx, f.root, again.watch); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Set(f.ctx, f.root, nil, drivers.AnyVersion); err != nil {
		t.Fatal(err)
	}
	if e := again.only(t); e.Type != drivers.DataChanged {
		t.Errorf("event %+v, want data changed", e)
	}
	c.Close()
	if n := len(r.events); n != 0 {
		t.Errorf("the watch of the read given up was called %d times", n)
	}
}

// An abandoned write holds back later calls until it is answered.
func TestAbandonedWrites(t *testing.T) {
	f := onLocal(t)
	v := newValve()
	s := serviceOf(t, Config{Servers: []string{f.address}, Dial: v.dial})
	asked := make(chan struct{}, 1)
	c, err := s.Dial(f.ctx, drivers.Options{Probe: probeFunc(func(m drivers.Message) {
		if m.Kind == drivers.Request && m.Op == drivers.OpSet {
			asked <- struct{}{}
		}
	})})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	v.set(true, false)
	ctx, cancel := context.WithCancel(f.ctx)
	failed := make(chan error)
	data := []byte("written")
	go func() {
		_, err := c.Set(ctx, f.root, data, drivers.AnyVersion)
		failed <- err
	}()
	<-asked
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	clear(data) // the caller may change it
	read := make(chan string)
	go func() {
		data, _, err := c.Get(f.ctx, f.root, nil)
		if err != nil {
			t.Error(err)
		}
		read <- string(data)
	}()
	v.set(false, false)
	if got := <-read; got != "written" {
		t.Errorf("the read after it got %q, want what it wrote", got)
	}
}
