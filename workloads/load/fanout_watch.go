package load

import (
	"context"
	"errors"
	"fmt"

	"github.com/stampede-bench/stampede/drivers"
)

// OneShot watches with watches that fire once: after each notification the client reads the node
// and arms a new watch. It is not notified of changes in between.
func OneShot(ctx context.Context, c drivers.Conn, node string, e *Observer) error {
	conn := drivers.Steady(c)
	for {
		var changed drivers.Wait
		e.Arm(true)
		_, stat, err := conn.Get(ctx, node, func(event drivers.Event) {
			if event.Type != drivers.Lost {
				e.Notified()
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
func Persistent(ctx context.Context, c drivers.Conn, node string, e *Observer) error {
	watcher, ok := c.(drivers.PersistentWatcher)
	if !ok {
		return fmt.Errorf("persistent watches by the session's client library: %w", drivers.ErrUnsupported)
	}
	conn := drivers.Persistent(watcher)
	var away drivers.Feed
	e.Arm(false)
	err := e.BetweenWrites(ctx, func() error {
		_, err := conn.WatchNode(ctx, node, func(event drivers.Event) {
			switch event.Type {
			case drivers.DataChanged:
				e.Notified()
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
			err = e.BetweenWrites(ctx, func() error { return catchUpAfterFlush(ctx, c, conn, node, e) })
		}
	}
	return err
}

func catchUp(ctx context.Context, c drivers.Conn, node string, e *Observer) error {
	_, stat, err := c.Get(ctx, node, nil)
	if err == nil {
		e.CaughtUp(stat.Version)
	}
	return err
}

// catchUpAfterFlush catches up after a flush of the session, when all notifications in transit have arrived.
// If the connection breaks during the flush, the watch is armed again and the next call catches
// up.
func catchUpAfterFlush(ctx context.Context, session, c drivers.Conn, node string, e *Observer) error {
	if f, ok := session.(drivers.Flusher); ok {
		if err := f.Flush(ctx); errors.Is(err, drivers.ErrConnectionLoss) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return catchUp(ctx, c, node, e)
}
