package naive

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// A Barrier makes clients wait until it is opened. It is one node, and each
// waiting client checks at a fixed interval whether that node still exists. No
// client is woken. A shorter interval sends more requests, a longer one delays
// the clients for longer. One path serves one round: closing, waiting and
// opening.
// Cost: N waiting clients, q polls each after the first check: no
// notifications, N+qN reads, 1 write; the opening wakes no client.
type Barrier struct {
	conn drivers.Conn
	path string
}

// barrierInterval is how long a waiting client sleeps between two reads.
const barrierInterval = 5 * time.Millisecond

// NewBarrier returns the barrier at path, whose parent must exist.
func NewBarrier(conn drivers.Conn, path string) *Barrier {
	return &Barrier{conn: drivers.Steady(conn), path: path}
}

// Set closes the barrier: it creates the barrier's node. If Set fails, it can
// be called again.
func (b *Barrier) Set(ctx context.Context) error {
	err := drivers.Repeat(ctx, func() error {
		_, err := b.conn.Create(ctx, b.path, nil, 0)
		return err
	})
	if err != nil && !errors.Is(err, drivers.ErrNodeExists) {
		return fmt.Errorf("set barrier %s: %w", b.path, err)
	}
	return nil
}

// Wait returns once the barrier is open. A barrier that was never set is open.
// If Wait fails, it leaves nothing behind.
func (b *Barrier) Wait(ctx context.Context) error {
	if err := b.wait(ctx); err != nil {
		return fmt.Errorf("wait at barrier %s: %w", b.path, err)
	}
	return nil
}

func (b *Barrier) wait(ctx context.Context) error {
	for {
		// 1. Call exists on the barrier's node, without a watch.
		_, there, err := b.conn.Exists(ctx, b.path, nil)
		// 2. If the node does not exist, the barrier is open: proceed.
		if err != nil || !there {
			return err
		}
		// 3. Wait for one interval, then go to step 1.
		if err := drivers.Pause(ctx, barrierInterval); err != nil {
			return err
		}
	}
}

// Open opens the barrier: it deletes the barrier's node, so that all clients
// that wait, now or later, proceed. If Open fails, it can be called again.
func (b *Barrier) Open(ctx context.Context) error {
	err := drivers.Repeat(ctx, func() error { return b.conn.Delete(ctx, b.path, drivers.AnyVersion) })
	if err != nil && !errors.Is(err, drivers.ErrNoNode) {
		return fmt.Errorf("open barrier %s: %w", b.path, err)
	}
	return nil
}
