package zookeeper

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
)

func TestLibraryLock(t *testing.T) {
	f := onLocal(t)
	const clients, rounds = 3, 20
	var holders, tokens atomic.Int64
	tokens.Store(drivers.NoSeq)
	var wg sync.WaitGroup
	for range clients {
		l := f.dial(t, drivers.Options{}).libraryLock(f.root + "/lock")
		wg.Go(func() {
			for range rounds {
				held, err := l.Acquire(f.ctx)
				if err != nil {
					t.Error(err)
					return
				}
				if holders.Add(1) != 1 || held.Err() != nil {
					t.Error("held by two clients at once, or by none")
				}
				if before := tokens.Swap(l.Token()); before >= l.Token() {
					t.Errorf("token %d after %d", l.Token(), before)
				}
				holders.Add(-1)
				if err := l.Release(f.ctx); err != nil {
					t.Error(err)
				}
				if held.Err() == nil || l.Token() != drivers.NoSeq {
					t.Error("still held after the release")
				}
			}
		})
	}
	wg.Wait()
	f.empty(t, "lock")
}

// empty checks that a node has no children.
func (f *fixture) empty(t *testing.T, name string) {
	t.Helper()
	children, err := f.dial(t, drivers.Options{}).Children(f.ctx, f.root+"/"+name, nil)
	if err != nil || len(children) != 0 {
		t.Errorf("left behind: %v, %v", children, err)
	}
}

// children waits until a node has n children.
func (f *fixture) children(t *testing.T, c drivers.Conn, name string, n int) {
	t.Helper()
	for {
		var w drivers.Wait
		children, err := c.Children(f.ctx, f.root+"/"+name, w.Fire)
		if err != nil {
			t.Fatal(err)
		}
		if len(children) == n {
			return
		}
		if _, err := w.Await(f.ctx); err != nil {
			t.Fatal(err)
		}
	}
}

// A cancelled Acquire leaves no node, blocks no other client, and can be repeated.
func TestLibraryLockGivenUp(t *testing.T) {
	f := onLocal(t)
	observer := f.dial(t, drivers.Options{})
	f.create(t, observer, "lock", 0)
	first := f.dial(t, drivers.Options{}).libraryLock(f.root + "/lock")
	second := f.dial(t, drivers.Options{}).libraryLock(f.root + "/lock")
	if _, err := first.Acquire(f.ctx); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		ctx, cancel := context.WithCancel(f.ctx)
		failed := make(chan error)
		go func() {
			_, err := second.Acquire(ctx)
			failed <- err
		}()
		f.children(t, observer, "lock", 2)
		cancel()
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want %v", err, context.Canceled)
		}
		f.children(t, observer, "lock", 1)
	}
	if err := first.Release(f.ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := second.Acquire(f.ctx); err != nil {
		t.Fatal(err)
	}
	if err := second.Release(f.ctx); err != nil {
		t.Fatal(err)
	}
	f.empty(t, "lock")
}

// The library itself finds its node when the reply to its create is lost. It does not return
// the node's sequence.
func TestLibraryLockLostReplies(t *testing.T) {
	f := onLocal(t)
	var creates, deletes int
	c := f.dial(t, drivers.Options{LoseReply: func(m drivers.Message) bool {
		switch m.Op {
		case drivers.OpCreate:
			creates++
			return creates%2 == 1
		case drivers.OpDelete:
			deletes++
			return deletes%2 == 1
		}
		return false
	}})
	f.create(t, f.dial(t, drivers.Options{}), "lock", 0)
	l := c.libraryLock(f.root + "/lock")
	last := drivers.NoSeq
	for range 20 {
		if _, err := l.Acquire(f.ctx); err != nil {
			t.Fatal(err)
		}
		if l.Token() <= last {
			t.Errorf("token %d after %d", l.Token(), last)
		}
		last = l.Token()
		if err := l.Release(f.ctx); err != nil {
			t.Fatal(err)
		}
	}
	f.empty(t, "lock")
}

func TestLibraryLockSessionLost(t *testing.T) {
	f := onLocal(t)
	c, v := f.through(t, drivers.Options{})
	l := c.libraryLock(f.root + "/lock")
	held, err := l.Acquire(f.ctx)
	if err != nil {
		t.Fatal(err)
	}
	f.expire(t, v)
	<-held.Done()
	if err := context.Cause(held); !errors.Is(err, drivers.ErrSessionLost) {
		t.Errorf("held ended with %v, want %v", err, drivers.ErrSessionLost)
	}
	if err := l.Release(f.ctx); !errors.Is(err, drivers.ErrSessionLost) {
		t.Errorf("release: %v, want %v", err, drivers.ErrSessionLost)
	}
	if _, err := l.Acquire(f.ctx); !errors.Is(err, drivers.ErrSessionLost) {
		t.Errorf("acquire: %v, want %v", err, drivers.ErrSessionLost)
	}
}
