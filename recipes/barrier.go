package recipes

import (
	"context"
	"errors"
	"fmt"

	"github.com/stampede-bench/stampede/drivers"
)

// A Barrier makes clients wait until it is opened. It is one node, and each
// waiting client watches that node. Opening it wakes all of them, which is no
// herd, because all of them can proceed. One path serves one round: closing,
// waiting and opening.
// Cost: N waiting clients: N notifications, 2N reads, 1 write; the opening
// wakes N.
type Barrier struct {
	conn drivers.Conn
	path string
}

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
// If Wait fails, it leaves nothing behind but a watch that wakes no goroutine.
func (b *Barrier) Wait(ctx context.Context) error {
	if err := b.wait(ctx); err != nil {
		return fmt.Errorf("wait at barrier %s: %w", b.path, err)
	}
	return nil
}

func (b *Barrier) wait(ctx context.Context) error {
	for {
		// 1. Call exists on the barrier's node, with a watch.
		var changed drivers.Wait
		_, there, err := b.conn.Exists(ctx, b.path, changed.Fire)
		// 2. If the node does not exist, the barrier is open: proceed.
		if err != nil || !there {
			return err
		}
		// 3. Wait for the watch to fire, then go to step 1.
		if _, err := changed.Await(ctx); err != nil {
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
