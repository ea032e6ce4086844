package main

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/recipes"
)

// waiting are those who wait for one lock, and the probe of all their sessions.
type waiting struct {
	stands   chan struct{} // one more stands in line
	held     chan *recipes.Lock
	failed   chan error
	notified atomic.Int64
}

func newWaiting(sessions int) *waiting {
	return &waiting{
		stands: make(chan struct{}, sessions),
		held:   make(chan *recipes.Lock, sessions),
		failed: make(chan error, sessions),
	}
}

// Message counts notifications and tells who arms the watch that waits.
func (q *waiting) Message(m drivers.Message) {
	switch {
	case m.Kind == drivers.Notification:
		q.notified.Add(1)
	case m.Kind == drivers.Reply && m.Op == drivers.OpExists && m.Watch && m.Err == nil:
		q.stands <- struct{}{}
	}
}

// handOver has all stand in line for a lock, and is how many notifications there
// were, over all sessions, for each of the releases.
func (q *waiting) handOver(ctx context.Context, conns []drivers.Conn, releases int) (float64, error) {
	if _, err := conns[0].Create(ctx, line, nil, 0); err != nil {
		return 0, err
	}
	if err := q.lineUp(ctx, conns); err != nil {
		return 0, err
	}
	before := q.notified.Load()
	for range releases {
		holder, err := q.next(ctx)
		if err == nil {
			err = holder.Release(ctx)
		}
		if err != nil {
			return 0, err
		}
	}
	if _, err := q.next(ctx); err != nil {
		return 0, err
	}
	// What the server had to say to anybody has been said.
	err := each(conns, func(c drivers.Conn) error { return c.(drivers.Fencer).Fence(ctx) })
	return float64(q.notified.Load()-before) / float64(releases), err
}

// lineUp returns when the first holds the lock and all others wait. Each lists
// the line when it comes, so that only a few may come at once.
func (q *waiting) lineUp(ctx context.Context, conns []drivers.Conn) error {
	const coming = 4
	for i, c := range conns {
		go q.acquire(ctx, recipes.NewLock(c, line))
		if i >= coming {
			if err := q.oneMore(ctx); err != nil {
				return err
			}
		}
	}
	for range min(coming, len(conns)) - 1 {
		if err := q.oneMore(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (q *waiting) acquire(ctx context.Context, l *recipes.Lock) {
	if _, err := l.Acquire(ctx); err != nil {
		q.failed <- err
		return
	}
	q.held <- l
}

func (q *waiting) oneMore(ctx context.Context) error {
	select {
	case <-q.stands:
		return nil
	case err := <-q.failed:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// next waits for who has the lock now.
func (q *waiting) next(ctx context.Context) (*recipes.Lock, error) {
	select {
	case l := <-q.held:
		return l, nil
	case err := <-q.failed:
		return nil, fmt.Errorf("a lock that was waited for: %w", err)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
