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
	waits    chan struct{} // one value for each session that has begun to wait
	held     chan *recipes.Lock
	failed   chan error
	notified atomic.Int64
}

func newWaiting(sessions int) *waiting {
	return &waiting{
		waits:  make(chan struct{}, sessions),
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
		q.waits <- struct{}{}
	}
}

// handOver lets all sessions wait for a lock, and returns the number of notifications, over all
// sessions, per release.
func (q *waiting) handOver(ctx context.Context, conns []drivers.Conn, releases int) (float64, error) {
	if _, err := conns[0].Create(ctx, line, nil, 0); err != nil {
		return 0, err
	}
	if err := q.queueAll(ctx, conns); err != nil {
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
	// A flush returns when all notifications that the server sent before it have arrived.
	err := each(conns, func(c drivers.Conn) error { return c.(drivers.Flusher).Flush(ctx) })
	return float64(q.notified.Load()-before) / float64(releases), err
}

// queueAll returns when the first session holds the lock and all others wait. Each session lists
// all waiters when it begins to wait, so only a few may begin at the same time.
func (q *waiting) queueAll(ctx context.Context, conns []drivers.Conn) error {
	const parallel = 4
	for i, c := range conns {
		go q.acquire(ctx, recipes.NewLock(c, line))
		if i >= parallel {
			if err := q.awaitWaiter(ctx); err != nil {
				return err
			}
		}
	}
	for range min(parallel, len(conns)) - 1 {
		if err := q.awaitWaiter(ctx); err != nil {
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

func (q *waiting) awaitWaiter(ctx context.Context) error {
	select {
	case <-q.waits:
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
