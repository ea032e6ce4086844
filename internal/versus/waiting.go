package main

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/recipes"
)

// waiting holds the sessions that wait for one lock, and is the probe of all of them.
type waiting struct {
	stands   chan struct{} // one value for each session that has begun to wait
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

// Message counts notifications and detects when a session arms the watch with which it waits.
func (q *waiting) Message(m drivers.Message) {
	switch {
	case m.Kind == drivers.Notification:
		q.notified.Add(1)
	case m.Kind == drivers.Reply && m.Op == drivers.OpExists && m.Watch && m.Err == nil:
		q.stands <- struct{}{}
	}
}

// handOver lets all sessions wait for a lock, and returns the number of notifications, over all
// sessions, per release.
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
	// A fence returns when all notifications that the server sent before it have arrived.
	err := each(conns, func(c drivers.Conn) error { return c.(drivers.Fencer).Fence(ctx) })
	return float64(q.notified.Load()-before) / float64(releases), err
}

// lineUp returns when the first session holds the lock and all others wait. Each session lists
// all waiters when it begins to wait, so only a few may begin at the same time.
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

// next waits for the session that gets the lock next, and returns its lock.
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
