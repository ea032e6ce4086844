package main

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/stampede-bench/stampede/drivers"
)

// timeout is that of all sessions: so long that nothing here ends one.
const timeout = 30 * time.Second

// atOnce is how many sessions are opened or closed at a time: fewer than a
// listener's queue holds.
const atOnce = 32

// dial opens n sessions.
func dial(ctx context.Context, s drivers.Service, n int, o drivers.Options) ([]drivers.Conn, error) {
	o.SessionTimeout = timeout
	conns := make([]drivers.Conn, n)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i := range conns {
		g.Go(func() (err error) {
			conns[i], err = s.Dial(ctx, o)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		closeAll(conns)
		return nil, err
	}
	return conns, nil
}

// closeAll closes those that were opened.
func closeAll(conns []drivers.Conn) {
	each(conns, func(c drivers.Conn) error {
		if c == nil {
			return nil
		}
		return c.Close()
	})
}

// each does something with every session, not all at once.
func each(conns []drivers.Conn, do func(drivers.Conn) error) error {
	var g errgroup.Group
	g.SetLimit(atOnce)
	for _, c := range conns {
		g.Go(func() error { return do(c) })
	}
	return g.Wait()
}
