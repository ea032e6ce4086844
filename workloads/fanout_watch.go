package workloads

import (
	"context"
	"errors"
	"fmt"

	"github.com/stampede-bench/stampede/drivers"
)

// OneShot watches with watches that fire once: after each notification the client reads the node
// and arms a new watch. It is not notified of changes in between.
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

// Persistent watches with one persistent watch. It reads the node only to find out with which
// change the notifications begin: once, and again whenever the watch was not armed for a while.
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

// fenced catches up after a flush of the session, when all notifications in transit have arrived.
// If the connection breaks during the flush, the watch is armed again and the next call catches
// up.
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
