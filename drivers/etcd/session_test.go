package etcd

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/protected"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// A frozen connection accepts writes and delivers nothing, but does not break.
type frozen struct {
	net.Conn
	ice chan struct{} // closed to freeze
}

func (f frozen) Read(p []byte) (int, error) {
	for {
		n, err := f.Conn.Read(p)
		select {
		case <-f.ice:
			if err == nil {
				continue
			}
		default:
		}
		return n, err
	}
}

func (f frozen) Write(p []byte) (int, error) {
	select {
	case <-f.ice:
		return len(p), nil
	default:
		return f.Conn.Write(p)
	}
}

// A client that lost its session knows it before another client can take its place.
func TestLossIsKnownBeforeTheLeaseEnds(t *testing.T) {
	testenv.SkipIfShort(t)
	s := quick(t)
	ice := make(chan struct{})
	freezing := service(t, Config{Endpoints: s.config.Endpoints, Prefix: s.config.Prefix, Dial: func(ctx context.Context, address string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		return frozen{c, ice}, err
	}})
	holder := dial(t, freezing, drivers.Options{SessionTimeout: 5 * time.Second}) // a tenth of it lies between the two events
	other := dial(t, s, drivers.Options{})
	create(t, holder, "/held", drivers.Ephemeral)
	knew := make(chan bool, 1)
	_, _, err := other.Exists(t.Context(), "/held", func(drivers.Event) {
		select {
		case <-holder.Done():
			knew <- true
		default:
			knew <- false
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	close(ice)
	if !<-knew {
		t.Error("the node of the holder was gone before the holder knew that its session was lost")
	}
}

// Every second reply to a create and to a delete is lost, at least 200 in all: no node is
// orphaned and none is created twice.
func TestLostReplies(t *testing.T) {
	var mu sync.Mutex
	losses := 0
	turns := map[drivers.Op]int{}
	lose := func(m drivers.Message) bool {
		if m.Op != drivers.OpCreate && m.Op != drivers.OpDelete {
			return false
		}
		mu.Lock()
		defer mu.Unlock()
		turns[m.Op]++
		if turns[m.Op]%2 == 0 {
			return false
		}
		losses++
		return true
	}
	s := quick(t)
	onlooker := dial(t, s, drivers.Options{})
	create(t, onlooker, "/line", 0)
	c := dial(t, s, drivers.Options{LoseReply: lose})
	for range 200 {
		place := protected.NewPlace(c, "/line", "lock-")
		if err := place.Create(t.Context()); err != nil {
			t.Fatal(err)
		}
		line, err := onlooker.Children(t.Context(), "/line", nil)
		if err != nil || len(line) != 1 || line[0].Seq != place.Seq() {
			t.Fatalf("the line is %v (%v), want the one place %d", line, err, place.Seq())
		}
		if err := place.Remove(t.Context()); err != nil {
			t.Fatal(err)
		}
		if line, err = onlooker.Children(t.Context(), "/line", nil); err != nil || len(line) != 0 {
			t.Fatalf("the line is %v (%v), want none", line, err)
		}
	}
	if losses < 200 {
		t.Errorf("%d replies were lost, want 200 at least", losses)
	}
}

// A write that is in flight when its connection breaks is not done once the session has
// reconnected.
func TestWriteOfAFormerConnectionIsRefused(t *testing.T) {
	s := quick(t)
	c := dial(t, s, drivers.Options{})
	former := c.version.Load()
	reconnected := make(chan struct{})
	c.options.OnState = func(s drivers.State) {
		if s == drivers.Connected {
			close(reconnected)
		}
	}
	c.tap.cut(c.tap.broke())
	<-reconnected
	late := c.create("/late", nil, 0)
	resp, err := c.library.Txn(late.attach(t.Context())).If(append(late.when, c.alive(former))...).
		Then(late.then...).Else(late.other...).Commit()
	if err != nil || resp.Succeeded {
		t.Errorf("a write of the former connection: done %v, %v", resp.Succeeded, err)
	}
	create(t, c, "/late", 0)
}

// A read finds the changes that the server has compacted while the session was disconnected.
func TestWatchesOutliveCompaction(t *testing.T) {
	testenv.SkipIfShort(t)
	s := quick(t)
	away, back := make(chan struct{}), make(chan struct{})
	opened := 0
	watcher := dial(t, s, drivers.Options{LoseReply: func(m drivers.Message) bool {
		if m.Op == drivers.OpOpen {
			if opened++; opened == 2 {
				close(away)
				<-back
			}
		}
		return false
	}})
	writer := dial(t, s, drivers.Options{})
	for _, path := range []string{"/changed", "/removed", "/anew", "/untouched", "/parent", "/empty"} {
		create(t, writer, path, 0)
	}
	type told struct {
		what string
		wait drivers.Wait
		want drivers.EventType // 0: nothing
	}
	var all []*told
	arm := func(what string, want drivers.EventType, read func(drivers.Watch) error) {
		w := &told{what: what, want: want}
		all = append(all, w)
		if err := read(w.wait.Fire); err != nil {
			t.Fatal(err)
		}
	}
	node := func(path string, want drivers.EventType) {
		arm(path, want, func(w drivers.Watch) error {
			_, _, err := watcher.Exists(t.Context(), path, w)
			return err
		})
	}
	children := func(path string, want drivers.EventType) {
		arm("children of "+path, want, func(w drivers.Watch) error {
			_, err := watcher.Children(t.Context(), path, w)
			return err
		})
	}
	node("/made", drivers.Created)
	node("/missing", 0)
	node("/changed", drivers.DataChanged)
	node("/removed", drivers.Deleted)
	node("/anew", drivers.Deleted)
	node("/untouched", 0)
	children("/parent", drivers.ChildrenChanged)
	children("/removed", drivers.Deleted)
	children("/empty", 0)

	watcher.tap.cut(watcher.tap.broke())
	<-away
	create(t, writer, "/made", 0)
	create(t, writer, "/parent/child", 0)
	remove(t.Context(), t, writer, "/removed")
	remove(t.Context(), t, writer, "/anew")
	create(t, writer, "/anew", 0)
	stat, err := writer.Set(t.Context(), "/changed", nil, drivers.AnyVersion)
	if err == nil {
		_, err = writer.library.Compact(t.Context(), stat.Modified)
	}
	if err != nil {
		t.Fatal(err)
	}
	close(back)
	if err := watcher.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	for _, w := range all {
		// A wait that has not ended by now ends with the context.
		if e, err := w.wait.Await(ended); e.Type != w.want || err == nil != (w.want != 0) {
			t.Errorf("%s: told %v, %v; want %v", w.what, e.Type, err, w.want)
		}
	}
}

// A flush returns when no client writes, whatever the session watches: the server reports its
// progress although no later revision exists.
func TestFlushAtRest(t *testing.T) {
	var states []drivers.State
	back := make(chan struct{})
	c := dial(t, quick(t), drivers.Options{OnState: func(s drivers.State) {
		if states = append(states, s); s == drivers.Connected {
			close(back)
		}
	}})
	create(t, c, "/empty", 0)
	ignore := func(drivers.Event) {}
	for _, path := range []string{"/", "/empty", "/missing"} {
		if _, _, err := c.Exists(t.Context(), path, ignore); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"/", "/empty"} {
		if _, err := c.Children(t.Context(), path, ignore); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.tap.cut(c.tap.broke())
	<-back
	if err := c.Flush(t.Context()); err != nil {
		t.Errorf("after a reconnect: %v", err)
	}
	if want := []drivers.State{drivers.Disconnected, drivers.Connected}; !slices.Equal(states, want) {
		t.Errorf("told the states %v, want %v", states, want)
	}
}

// TestDialWaitsForTheService opens a session at a service that refuses connections at first. Dial goes on until the
// service is there, or its context ends; then the error says why there was no connection.
func TestDialWaitsForTheService(t *testing.T) {
	at := quick(t).config.Endpoints
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	for _, opens := range []bool{true, false} {
		const attempts = 5
		var made atomic.Int64
		ctx, cancel := context.WithCancel(t.Context())
		s := service(t, Config{Endpoints: at, Prefix: "/waits", Dial: func(ctx context.Context, address string) (net.Conn, error) {
			if n := made.Add(1); n <= attempts || !opens {
				if n == attempts && !opens {
					cancel()
				}
				return nil, refused
			}
			return new(net.Dialer).DialContext(ctx, "tcp", address)
		}})
		c, err := s.Dial(ctx, drivers.Options{})
		cancel()
		switch {
		case opens && err != nil:
			t.Errorf("after %d attempts: %v", made.Load(), err)
		case opens:
			c.Close()
		case made.Load() < attempts || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), at[0]) ||
			!strings.Contains(err.Error(), "connection refused"):
			t.Errorf("after %d attempts: %v; want a refused connection to %s", made.Load(), err, at[0])
		}
	}
}

func TestConfigNamesWhatIsWrong(t *testing.T) {
	at := []string{"h:2379"}
	for want, c := range map[string]Config{
		"endpoints: name at least one address, host:port":            {},
		`endpoint "h": want host:port`:                               {Endpoints: []string{"h"}},
		`prefix "a": must begin with a slash and not end with one`:   {Endpoints: at, Prefix: "a"},
		`prefix "/a/": must begin with a slash and not end with one`: {Endpoints: at, Prefix: "/a/"},
	} {
		if _, err := New(c); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// TestFlushWithoutALease flushes a session without a lease, and so without a watch of its own, which etcd reports no progress
// to: before it has a watch, while a change of its only watch is under way, when that has fired, and with one that never can.
func TestFlushWithoutALease(t *testing.T) {
	s := quick(t)
	c, writer := dial(t, s, drivers.Options{NoEphemerals: true}), dial(t, s, drivers.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // it would never end
	defer cancel()
	flush := func(when string) {
		t.Helper()
		if err := drivers.Repeat(ctx, func() error { return c.Flush(ctx) }); err != nil {
			t.Fatalf("%s: %v", when, err)
		}
	}
	flush("without a watch")
	create(t, writer, "/a", 0)
	var told atomic.Int64
	watch := func(drivers.Event) { told.Add(1) }
	if _, _, err := c.Get(ctx, "/a", watch); err != nil {
		t.Fatal(err)
	}
	flush("with a watch")
	if _, err := writer.Set(ctx, "/a", nil, drivers.AnyVersion); err != nil {
		t.Fatal(err)
	}
	flush("after a change")
	if n := told.Load(); n != 1 {
		t.Errorf("notified %d times before the flush ended, want once", n)
	}
	flush("after the watch has fired")
	if _, _, err := c.Exists(ctx, "/", watch); err != nil {
		t.Fatal(err)
	}
	flush("with a watch of the root")
	c.tap.cut(c.tap.broke())
	flush("after a reconnect")
}
