package naive

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/protected"
)

// A PollLock is held by one client at a time. Each client creates a sequential
// ephemeral node, and the client with the lowest sequence number holds the
// lock. Every other client lists the nodes at a fixed interval until its own is
// the lowest. No client is woken. A shorter interval sends more requests, a
// longer one leaves the lock free for longer. One PollLock serves one
// goroutine.
// Cost: N clients, one turn each, q polls per client during each hold: no
// notifications, N+q·N(N−1)/2 reads, 2N writes; a release wakes no client.
type PollLock struct {
	conn     drivers.Conn
	dir      string
	interval time.Duration
	node     *protected.Claim
	end      context.CancelFunc
}

// NewPollLock returns the lock at dir, an existing node. A waiting client lists
// the line once per interval.
func NewPollLock(conn drivers.Conn, dir string, interval time.Duration) *PollLock {
	return &PollLock{
		conn:     drivers.Steady(conn),
		dir:      dir,
		interval: interval,
		node:     protected.NewPlace(conn, dir, "lock-"),
		end:      func() {},
	}
}

// Acquire is like [Lock.Acquire].
func (l *PollLock) Acquire(ctx context.Context) (held context.Context, err error) {
	if err := l.wait(ctx); err != nil {
		return nil, fmt.Errorf("acquire lock %s: %w", l.dir, errors.Join(err, l.node.Abandon(ctx)))
	}
	held, l.end = drivers.Bound(ctx, l.conn)
	return held, nil
}

func (l *PollLock) wait(ctx context.Context) error {
	// 1. Create a sequential ephemeral node: this client's place in the line.
	if err := l.node.Create(ctx); err != nil {
		return err
	}
	for {
		// 2. Get the children (the line), without a watch.
		line, err := l.conn.Children(ctx, l.dir, nil)
		if err != nil {
			return err
		}
		// 3. If no node is ahead of this client's, it holds the lock.
		ahead, err := l.node.Ahead(line)
		if err != nil || ahead == "" {
			return err
		}
		// 4. Wait for one interval, then go to step 2.
		if err := drivers.Pause(ctx, l.interval); err != nil {
			return err
		}
	}
}

// Token returns the holder's fencing token. A resource that has seen a higher
// token must refuse this one.
func (l *PollLock) Token() int64 { return l.node.Seq() }

// Release is like [Lock.Release].
func (l *PollLock) Release(ctx context.Context) error {
	l.end()
	if err := l.node.Remove(ctx); err != nil {
		return fmt.Errorf("release lock %s: %w", l.dir, err)
	}
	return nil
}
