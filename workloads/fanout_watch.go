package workloads

import (
	"context"
	"errors"
	"fmt"

	"github.com/stampede-bench/stampede/drivers"
)

// OneShot watches by watches that fire once: after each notification the client
// reads the node with a new one. What is changed between the two it is not told of.
func OneShot(ctx context.Context, c drivers.Conn, node string, e *Ear) error {
	conn := drivers.Steady(c)
	for {
		var changed drivers.Wait
		e.Arm(true)
		_, stat, err := conn.Get(ctx, node, func(event drivers.Event) {
			if event.Type != drivers.Lost {
				e.Told()
			}
			changed.Fire(event)
		})
		if err != nil {
			return err
		}
		e.Read(stat.Version)
		if _, err := changed.Await(ctx); err != nil {
			return err
		}
	}
}

// Persistent watches by one watch that stays, and reads the node only to find out
// from which change on it is told: once, and again whenever the watch was away.
func Persistent(ctx context.Context, c drivers.Conn, node string, e *Ear) error {
	watcher, ok := c.(drivers.PersistentWatcher)
	if !ok {
		return fmt.Errorf("persistent watches by the session's client library: %w", drivers.ErrUnsupported)
	}
	conn := drivers.Persistent(watcher)
	var away drivers.Feed
	e.Arm(false)
	err := e.Quietly(ctx, func() error {
		_, err := conn.WatchNode(ctx, node, func(event drivers.Event) {
			switch event.Type {
			case drivers.DataChanged:
				e.Told()
			case drivers.Rearmed:
				e.Arm(false)
				away.Fire(event)
			case drivers.Lost:
				away.Fire(event)
			}
		})
		if err != nil {
			return err
		}
		return catchUp(ctx, conn, node, e)
	})
	for err == nil {
		if _, err = away.Await(ctx); err == nil {
			err = e.Quietly(ctx, func() error { return fenced(ctx, c, conn, node, e) })
		}
	}
	return err
}

func catchUp(ctx context.Context, c drivers.Conn, node string, e *Ear) error {
	_, stat, err := c.Get(ctx, node, nil)
	if err == nil {
		e.Caught(stat.Version)
	}
	return err
}

// fenced catches up when all notifications that were on their way have come. If
// the connection breaks over it, the watch will have been away once more.
func fenced(ctx context.Context, session, c drivers.Conn, node string, e *Ear) error {
	if f, ok := session.(drivers.Fencer); ok {
		if err := f.Fence(ctx); errors.Is(err, drivers.ErrConnectionLoss) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return catchUp(ctx, c, node, e)
}
