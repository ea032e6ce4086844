package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// TestLeaderFails kills, freezes and isolates the leader of three native servers in turn, LEADERS (10)
// times, while clients write and watch. No acknowledged write is lost and none is applied twice, no
// session is lost, and each watch fires exactly once, with the next change.
//
//	LEADERS=100 go test -run TestLeaderFails -timeout 1h ./drivers/cluster
func TestLeaderFails(t *testing.T) {
	testenv.SkipIfShort(t)
	rounds := 10
	if n, err := strconv.Atoi(os.Getenv("LEADERS")); err == nil {
		rounds = n
	}
	// A client gives its session up after it was disconnected for its time-out, which a leader's successor
	// must not need even on a machine that is overloaded.
	s, _ := openWith(t, "native:?servers=3&session-timeout=30s", backends.Options{Divisible: true})
	load := startLoad(t, s)
	for round := range rounds {
		first := leader(t, s, s.Members()...)
		load.progress(t)
		all := failures(first)
		failure := all[round%len(all)]
		if err := failure.apply(); err != nil {
			t.Fatal(err)
		}
		if second := leader(t, without(s, first)); second.Name() == first.Name() {
			t.Fatalf("member %s leads", second.Name())
		}
		load.progress(t)
		if err := failure.undo(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	leader(t, s, s.Members()...)
	load.end(t, s)
}

// A failure is one way in which a leader fails, and how it ends.
type failure struct {
	apply func() error
	undo  func(context.Context) error
}

func failures(m drivers.Member) []failure {
	return append([]failure{{m.Kill, m.Restart}}, halfAlive(m)...)
}

// halfAlive returns the failures that a process survives, and its clients with it.
func halfAlive(m drivers.Member) []failure {
	isolate := func(d drivers.Direction) failure {
		return failure{func() error { return m.Isolate(d) }, func(context.Context) error { return m.Restore() }}
	}
	return []failure{
		{m.Stop, func(context.Context) error { return m.Continue() }},
		isolate(drivers.Both), isolate(drivers.Out), isolate(drivers.In),
	}
}

// A load is what clients do during the failures.
type load struct {
	ledger  *ledger
	clients []*writer
	watcher *watcher
	stop    context.CancelFunc
	ended   sync.WaitGroup
	failed  chan error // why a client has ended before the load did

	watching sync.WaitGroup
}

// callTime limits a client's calls for one write, and the wait for an acknowledged one. Only a defect takes that
// long.
const callTime = 2 * time.Minute

// writers is the number of clients that write: two for each member.
const writers = 6

func startLoad(t *testing.T, s drivers.Ensemble) *load {
	t.Helper()
	create(t, s, "/writes")
	create(t, s, "/watched")
	ctx, cancel := context.WithCancel(t.Context())
	l := &load{ledger: newLedger(), stop: cancel, failed: make(chan error, writers+1)}
	for i := range writers {
		w := &writer{number: i, conn: dial(t, s), ledger: l.ledger}
		if _, err := w.conn.Create(ctx, w.ephemeral(), nil, drivers.Ephemeral); err != nil {
			t.Fatal(err)
		}
		l.clients = append(l.clients, w)
		l.ended.Go(func() {
			if err := w.run(ctx); err != nil {
				l.failed <- fmt.Errorf("client %d: %w", w.number, err)
			}
		})
	}
	l.watcher = &watcher{t: t, conn: drivers.Steady(dial(t, s))}
	l.watching.Go(func() {
		if err := l.watcher.run(t.Context()); err != nil {
			l.failed <- fmt.Errorf("the client that watches: %w", err)
		}
	})
	return l
}

// progress waits until each client has had another write acknowledged. It ends the test if a client has
// ended.
func (l *load) progress(t *testing.T) {
	t.Helper()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	limit := time.NewTimer(callTime)
	defer limit.Stop()
	for _, w := range l.clients {
		for before := w.acknowledged.Load(); w.acknowledged.Load() == before; {
			select {
			case <-again.C:
			case err := <-l.failed:
				t.Fatal(err)
			case <-limit.C:
				t.Fatalf("client %d has no write acknowledged in %v", w.number, callTime)
			}
		}
	}
}

// end ends the load and checks what is there.
func (l *load) end(t *testing.T, s drivers.Ensemble) {
	t.Helper()
	l.stop()
	l.ended.Wait()
	select {
	case err := <-l.failed:
		t.Fatal(err)
	default:
	}
	c := drivers.Steady(dial(t, s))
	defer c.Close()
	if err := c.Sync(t.Context(), "/"); err != nil {
		t.Fatal(err)
	}
	children, err := c.Children(t.Context(), "/writes", nil)
	if err != nil {
		t.Fatal(err)
	}
	var nodes []string
	for _, child := range children {
		nodes = append(nodes, child.Name)
	}
	for _, fault := range l.ledger.faults(nodes) {
		t.Error(fault)
	}
	for _, w := range l.clients {
		if _, found, err := c.Exists(t.Context(), w.ephemeral(), nil); !found || err != nil {
			t.Errorf("client %d: its ephemeral node is there: %t, %v", w.number, found, err)
		}
		w.check(t, c)
		w.conn.Close()
	}
	stat, err := c.Set(t.Context(), "/watched", nil, drivers.AnyVersion)
	if err != nil {
		t.Fatal(err)
	}
	l.watcher.end(&l.watching, stat.Version)
	t.Logf("%d writes acknowledged, %d without an answer, %d watches", len(l.ledger.answered), len(l.ledger.open), len(l.watcher.reads))
}

// A writer creates nodes, and changes a node of its own: each value to the next one.
type writer struct {
	number       int
	conn         drivers.Conn
	ledger       *ledger
	acknowledged atomic.Int64
	changes      int32 // of its own node, which are its version
}

func (w *writer) ephemeral() string { return fmt.Sprintf("/ephemeral-%d", w.number) }
func (w *writer) own() string       { return fmt.Sprintf("/own-%d", w.number) }

// run writes until the context ends or a call fails for another reason than a lost connection.
func (w *writer) run(ctx context.Context) error {
	// A call may have to outlive the end of the load, so that its result is known.
	ctx, end := context.WithoutCancel(ctx), ctx
	if _, err := w.conn.Create(ctx, w.own(), nil, 0); err != nil {
		return fmt.Errorf("create %s: %w", w.own(), err)
	}
	for n := 0; end.Err() == nil; n++ {
		if err := w.write(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// write creates a node and changes others.
func (w *writer) write(ctx context.Context, n int) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	prefix := fmt.Sprintf("%d-%d-", w.number, n)
	switch made, err := w.conn.Create(ctx, "/writes/"+prefix, nil, drivers.Sequential); {
	case err == nil:
		w.ledger.answer(prefix, made.Name)
		w.acknowledged.Add(1)
	case errors.Is(err, drivers.ErrConnectionLoss):
		w.ledger.leave(prefix)
	default:
		return fmt.Errorf("create %s: %w", prefix, err)
	}
	return w.change(ctx)
}

// change changes the client's own node, and a node that others watch. After a lost answer it reads
// whether the change happened.
func (w *writer) change(ctx context.Context) error {
	_, err := w.conn.Set(ctx, w.own(), nil, w.changes)
	if errors.Is(err, drivers.ErrConnectionLoss) {
		stat, _, err := drivers.Steady(w.conn).Exists(ctx, w.own(), nil)
		if err == nil && stat.Version != w.changes && stat.Version != w.changes+1 {
			err = fmt.Errorf("its node has version %d after a change of version %d", stat.Version, w.changes)
		}
		w.changes = stat.Version
		return err
	}
	if err != nil {
		return fmt.Errorf("change %d: %w", w.changes, err)
	}
	w.changes++
	if w.number > 0 {
		return nil
	}
	if _, err = w.conn.Set(ctx, "/watched", nil, drivers.AnyVersion); errors.Is(err, drivers.ErrConnectionLoss) {
		return nil
	}
	return err
}

func (w *writer) check(t *testing.T, c drivers.Conn) {
	t.Helper()
	stat, _, err := c.Exists(t.Context(), w.own(), nil)
	if err != nil || stat.Version != w.changes {
		t.Errorf("client %d: its node has version %d, %v; want %d", w.number, stat.Version, err, w.changes)
	}
	select {
	case <-w.conn.Done():
		t.Errorf("client %d has lost its session", w.number)
	default:
	}
}

// A watcher reads a node that changes, each time with a watch, and reads it again when that fires.
type watcher struct {
	t       *testing.T
	conn    drivers.Conn
	last    atomic.Int32 // the version that was read last
	closing atomic.Bool
	reads   []*read
}

// A read is one read with a watch.
type read struct {
	version int32
	fired   atomic.Int32 // how often the watch fired
	first   chan struct{}
}

func (r *read) fire(drivers.Event) {
	if r.fired.Add(1) == 1 {
		close(r.first)
	}
}

func (w *watcher) run(ctx context.Context) error {
	for before := int32(-1); ; {
		r := &read{first: make(chan struct{})}
		stat, found, err := w.conn.Exists(ctx, "/watched", r.fire)
		if w.closing.Load() {
			return nil
		}
		if err != nil {
			return fmt.Errorf("after a watch on version %d fired: %w", before, err)
		}
		if !found || stat.Version <= before {
			return fmt.Errorf("after a watch on version %d fired: version %d, found: %t", before, stat.Version, found)
		}
		before, r.version = stat.Version, stat.Version
		w.reads = append(w.reads, r)
		w.last.Store(stat.Version)
		select {
		case <-r.first:
		case <-ctx.Done(): // the test has failed
			return nil
		}
	}
}

// end waits until the watcher has read the last version, closes its session, which fires the last
// watch, and checks that every watch has fired once.
func (w *watcher) end(ended *sync.WaitGroup, last int32) {
	w.t.Helper()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for deadline := time.Now().Add(patience); w.last.Load() != last; <-again.C {
		if time.Now().After(deadline) {
			w.t.Fatalf("a watch on version %d did not fire, and the last one is %d", w.last.Load(), last)
		}
	}
	w.closing.Store(true)
	w.conn.Close()
	ended.Wait()
	for _, r := range w.reads {
		if n := r.fired.Load(); n != 1 {
			w.t.Errorf("the watch on version %d fired %d times", r.version, n)
		}
	}
}
