package catalog_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/recipes"
)

// TestRoundTripsOfATurn counts the replies of etcd to a client that waits for the lock, gets it
// and releases it: those to four calls, and the confirmation of its watch.
func TestRoundTripsOfATurn(t *testing.T) {
	s := backendtest.Shared(t, "etcd:")
	const dir = "/round-trips"
	var mu sync.Mutex
	var replies []string
	watches := make(chan struct{})
	second := dialLock(t, s, dir, func(m drivers.Message) bool {
		mu.Lock()
		defer mu.Unlock()
		if strings.HasPrefix(string(m.Path), dir) {
			replies = append(replies, m.Op.String())
		}
		if m.Op == drivers.OpExists {
			close(watches)
		}
		return false
	})
	first := dialLock(t, s, dir, nil)
	if _, err := first.Acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	released := make(chan error, 1)
	go func() {
		<-watches
		released <- first.Release(t.Context())
	}()
	if _, err := second.Acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := second.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-released; err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	slices.Sort(replies)
	want := []string{drivers.OpChildren.String(), drivers.OpCreate.String(), drivers.OpDelete.String(),
		drivers.OpExists.String(), drivers.OpOther.String()}
	if slices.Sort(want); !slices.Equal(replies, want) {
		t.Errorf("a turn took the replies %v, want %v", replies, want)
	}
}

// dialLock returns the lock at dir, which it creates, on a session of its own.
func dialLock(t *testing.T, s drivers.Service, dir string, lose func(drivers.Message) bool) *recipes.Lock {
	t.Helper()
	c, err := s.Dial(t.Context(), drivers.Options{LoseReply: lose})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if lose == nil {
		if _, err := c.Create(t.Context(), dir, nil, 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Delete(context.WithoutCancel(t.Context()), dir, drivers.AnyVersion) })
	}
	return recipes.NewLock(c, dir)
}
