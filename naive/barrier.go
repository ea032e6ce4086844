package naive

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// A Barrier holds up everybody who waits at it until somebody opens it. The
// barrier is a node, and each who waits looks again and again whether it is
// still there, so nobody is woken and everybody keeps asking; a shorter interval
// asks more, a longer one goes on later. One barrier, one opening: the next one
// needs a path of its own.
// Cost: N clients that wait, q polls each after the first look: no notifications,
// N+qN reads, 1 write; the opening wakes nobody.
type Barrier struct {
	conn drivers.Conn
	path string
}

// barrierInterval is how long a client that waits at a barrier rests between two
// looks.
const barrierInterval = 5 * time.Millisecond

// NewBarrier returns the barrier at path, whose parent is there already.
func NewBarrier(conn drivers.Conn, path string) *Barrier {
	return &Barrier{conn: drivers.Steady(conn), path: path}
}

// Set puts the barrier up. It can be called again if it fails.
func (b *Barrier) Set(ctx context.Context) error {
	err := drivers.Repeat(func() error {
		_, err := b.conn.Create(ctx, b.path, nil, 0)
		return err
	})
	if err != nil && !errors.Is(err, drivers.ErrNodeExists) {
		return fmt.Errorf("set barrier %s: %w", b.path, err)
	}
	return nil
}

// Wait returns once the barrier is open; one that was never set is. If Wait
// fails it has left nothing behind.
func (b *Barrier) Wait(ctx context.Context) error {
	if err := b.wait(ctx); err != nil {
		return fmt.Errorf("wait at barrier %s: %w", b.path, err)
	}
	return nil
}

func (b *Barrier) wait(ctx context.Context) error {
	for {
		// 1. Ask whether the barrier is there, without a watch.
		_, there, err := b.conn.Exists(ctx, b.path, nil)
		// 2. Go on if it is not.
		if err != nil || !there {
			return err
		}
		// 3. Wait a little, then look again.
		if err := drivers.Pause(ctx, barrierInterval); err != nil {
			return err
		}
	}
}

// Open lets everybody go on who waits or will. It can be called again if it
// fails.
func (b *Barrier) Open(ctx context.Context) error {
	err := drivers.Repeat(func() error { return b.conn.Delete(ctx, b.path, drivers.AnyVersion) })
	if err != nil && !errors.Is(err, drivers.ErrNoNode) {
		return fmt.Errorf("open barrier %s: %w", b.path, err)
	}
	return nil
}
