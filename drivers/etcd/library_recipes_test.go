package etcd

import (
	"context"
	"errors"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	recipe "go.etcd.io/etcd/client/v3/experimental/recipes"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/etcd/library"
	"github.com/stampede-bench/stampede/internal/testenv"
)

var errTired = errors.New("tired")

// No wait inside package recipe can be cancelled. In stampede all of them can, and the keys
// on the session's lease are removed.
func TestLibraryRecipesAreGivenUp(t *testing.T) {
	s := quick(t)
	for what, wait := range map[string]func(ctx context.Context, c, other *Conn) error{
		"barrier": func(ctx context.Context, c, _ *Conn) error {
			return c.LibraryForm("barrier", "/dir/barrier", 0).(*library.Barrier).Wait(ctx)
		},
		"double barrier": func(ctx context.Context, c, _ *Conn) error {
			_, err := c.LibraryForm("double-barrier", "/dir", 2).(*library.DoubleBarrier).Enter(ctx)
			return err
		},
		"shared lock": func(ctx context.Context, c, other *Conn) error {
			if _, err := other.LibraryForm("shared-lock", "/dir", 0).(*library.SharedLock).AcquireRead(context.WithoutCancel(ctx)); err != nil {
				return err
			}
			_, err := c.LibraryForm("shared-lock", "/dir", 0).(*library.SharedLock).AcquireWrite(ctx)
			return err
		},
		"queue": func(ctx context.Context, c, _ *Conn) error {
			_, err := c.LibraryForm("queue", "/dir/queue", 0).(*library.Queue).Take(ctx)
			return err
		},
		"priority queue": func(ctx context.Context, c, _ *Conn) error {
			_, err := c.LibraryForm("priority-queue", "/dir/queue", 0).(*library.PriorityQueue).Take(ctx)
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			for _, end := range []error{errTired, drivers.ErrSessionLost} {
				probe := newTape()
				admin, other := dial(t, s, drivers.Options{}), dial(t, s, drivers.Options{})
				c := dial(t, s, drivers.Options{Probe: probe})
				create(t, admin, "/dir", 0)
				create(t, admin, "/dir/barrier", 0)
				ctx, giveUp := context.WithCancelCause(t.Context())
				failed := make(chan error)
				go func() { failed <- wait(ctx, c, other) }()
				<-probe.watching
				if end == errTired {
					giveUp(end)
				} else {
					c.Close()
				}
				if err := <-failed; !errors.Is(err, end) {
					t.Errorf("ended with %v, want %v", err, end)
				}
				giveUp(nil)
				other.Close()
				if err := admin.Delete(t.Context(), "/dir/barrier", drivers.AnyVersion); err != nil {
					t.Fatal(err)
				}
				if err := admin.Delete(t.Context(), "/dir", drivers.AnyVersion); err != nil {
					left, _ := admin.Children(t.Context(), "/dir", nil)
					t.Errorf("%v, because of %v", err, left)
				}
			}
		})
	}
}

// The reason for the recover in take: a consumer whose watch for an item ends panics.
func TestLibraryQueuePanics(t *testing.T) {
	s := quick(t)
	probe := newTape()
	c := dial(t, s, drivers.Options{Probe: probe})
	panicked := make(chan any)
	go func() {
		defer func() { panicked <- recover() }()
		_, _ = recipe.NewQueue(c.library, "/queue").Dequeue()
	}()
	<-probe.watching
	c.Close()
	if <-panicked == nil {
		t.Error("the library looks at its watch now: take need not recover any more")
	}
}

// A forgetter makes etcd compact all revisions so far, after the library has had the given
// number of reads answered.
type forgetter struct {
	admin *clientv3.Client
	reads int
	after int
}

func (f *forgetter) Message(m drivers.Message) {
	if m.Kind != drivers.Reply || !m.Op.IsRead() {
		return
	}
	if f.reads++; f.reads != f.after {
		return
	}
	for range 2 { // the last revision is never compacted
		if put, err := f.admin.Put(context.Background(), "/forget", ""); err == nil {
			_, _ = f.admin.Compact(context.Background(), put.Header.Revision)
		}
	}
}

// The defect that library.DoubleBarrier describes: a client that watches from a compacted
// revision enters before all clients have arrived.
func TestLibraryDoubleBarrierLetsInTooEarly(t *testing.T) {
	testenv.SkipIfShort(t)
	s := quick(t)
	admin := dial(t, s, drivers.Options{})
	create(t, admin, "/barrier", 0)
	c := dial(t, s, drivers.Options{Probe: &forgetter{admin: admin.library, after: 2}})
	if _, err := c.LibraryForm("double-barrier", "/barrier", 2).(*library.DoubleBarrier).Enter(t.Context()); err != nil {
		t.Errorf("the library notices now (%v): say so where it says that it does not", err)
	}
}

// The defect that library.SharedLock describes: a writer that waits for the second reader ahead
// of it, after etcd has compacted the revision of its key, retries in a busy loop.
func TestLibrarySharedLockLooksWithoutEnd(t *testing.T) {
	testenv.SkipIfShort(t)
	s := quick(t)
	admin := dial(t, s, drivers.Options{})
	create(t, admin, "/lock", 0)
	readers := [2]*library.SharedLock{}
	for i := range readers {
		readers[i] = dial(t, s, drivers.Options{}).LibraryForm("shared-lock", "/lock", 0).(*library.SharedLock)
		if _, err := readers[i].AcquireRead(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	const enough = 20
	looked := make(chan struct{})
	f := &forgetter{admin: admin.library, after: 2}
	probe := probeFunc(func(m drivers.Message) {
		if f.Message(m); f.reads == enough {
			close(looked)
			f.reads++
		}
	})
	watching := newTape()
	c := dial(t, s, drivers.Options{Probe: probeFunc(func(m drivers.Message) { watching.Message(m); probe(m) })})
	held := make(chan error)
	go func() {
		_, err := c.LibraryForm("shared-lock", "/lock", 0).(*library.SharedLock).AcquireWrite(t.Context())
		held <- err
	}()
	<-watching.watching
	for _, r := range []*library.SharedLock{readers[1], readers[0]} {
		if err := r.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		if r == readers[1] {
			<-looked
		}
	}
	if err := <-held; err != nil {
		t.Errorf("the writer is safe all the same: %v", err)
	}
}

type probeFunc func(drivers.Message)

func (f probeFunc) Message(m drivers.Message) { f(m) }

// The library's own keys are below the queue's node, and can be removed with it.
func TestLibraryPriorityQueueStaysBelowItsNode(t *testing.T) {
	s := quick(t)
	c := dial(t, s, drivers.Options{})
	create(t, c, "/queue", 0)
	q := c.LibraryForm("priority-queue", "/queue", 0).(*library.PriorityQueue)
	if err := q.Put(t.Context(), 7, []byte("item")); err != nil {
		t.Fatal(err)
	}
	if item, err := q.Take(t.Context()); string(item) != "item" || err != nil {
		t.Errorf("took %q (%v), want what was put", item, err)
	}
	left, err := c.Children(t.Context(), "/queue", nil)
	if err != nil || len(left) != 1 || left[0].Name != "__items%2F00007" {
		t.Fatalf("left are %v (%v), want the priority's own key", left, err)
	}
	if err := c.Delete(t.Context(), "/queue/"+left[0].Name, drivers.AnyVersion); err != nil {
		t.Error(err)
	}
	if err := c.Delete(t.Context(), "/queue", drivers.AnyVersion); err != nil {
		t.Error(err)
	}
	everything, err := c.library.Get(t.Context(), "__", clientv3.WithPrefix())
	if err != nil || len(everything.Kvs) != 0 {
		t.Errorf("outside of the prefix are %v (%v), want nothing", everything, err)
	}
}
