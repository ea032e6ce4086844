package main

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/stampede-bench/stampede/drivers"
)

// timeout is the timeout of all sessions: long enough that no session expires here.
const timeout = 30 * time.Second

// atOnce is the number of sessions opened or closed at the same time: fewer than the backlog of
// a listener.
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

// closeAll closes the sessions that were opened.
func closeAll(conns []drivers.Conn) {
	each(conns, func(c drivers.Conn) error {
		if c == nil {
			return nil
		}
		return c.Close()
	})
}

// each calls do for every session, for at most atOnce at the same time.
func each(conns []drivers.Conn, do func(drivers.Conn) error) error {
	var g errgroup.Group
	g.SetLimit(atOnce)
	for _, c := range conns {
		g.Go(func() error { return do(c) })
	}
	return g.Wait()
}
