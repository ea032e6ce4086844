package main

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/internal/serverbench/floor"
	"github.com/stampede-bench/stampede/results/stats"
)

// The nodes that the operations use: one of 100 bytes, one of 1 KB, and the parent of created
// nodes.
const (
	small = "/small"
	large = floor.Node
	queue = "/queue"
)

var (
	hundredBytes = make([]byte, 100)
	kilobyte     = make([]byte, 1<<10)
)

// createNodes creates the nodes.
func createNodes(ctx context.Context, s drivers.Service) error {
	conns, err := dial(ctx, s, 1)
	if err != nil {
		return err
	}
	defer closeAll(conns)
	for path, data := range map[string][]byte{small: hundredBytes, large: kilobyte, queue: nil} {
		if _, err := conns[0].Create(ctx, path, data, 0); err != nil {
			return err
		}
	}
	return nil
}

// A call makes the i-th call of one caller.
type call func(ctx context.Context, c drivers.Conn, i int) error

func get(ctx context.Context, c drivers.Conn, _ int) error {
	_, _, err := c.Get(ctx, small, nil)
	return err
}

func set(ctx context.Context, c drivers.Conn, _ int) error {
	_, err := c.Set(ctx, large, kilobyte, drivers.AnyVersion)
	return err
}

func getOrSet(ctx context.Context, c drivers.Conn, i int) error {
	if i%10 == 9 {
		return set(ctx, c, i)
	}
	return get(ctx, c, i)
}

func enqueue(ctx context.Context, c drivers.Conn, _ int) error {
	_, err := c.Create(ctx, queue+"/n-", nil, drivers.Ephemeral|drivers.Sequential)
	return err
}

// timeout is the timeout of all sessions, which servers may shorten: long enough that no session
// expires here.
const timeout = 30 * time.Second

// atOnce is the number of sessions opened or closed at the same time: fewer than the backlog of
// a listener.
const atOnce = 32

// dial opens n sessions.
func dial(ctx context.Context, s drivers.Service, n int) ([]drivers.Conn, error) {
	return dialThrough(ctx, n, func(ctx context.Context) (drivers.Conn, error) {
		return s.Dial(ctx, drivers.Options{SessionTimeout: timeout})
	})
}

// dialThrough opens n sessions with a function.
func dialThrough(ctx context.Context, n int, dial func(context.Context) (drivers.Conn, error)) ([]drivers.Conn, error) {
	conns := make([]drivers.Conn, n)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i := range conns {
		g.Go(func() error {
			c, err := dial(ctx)
			if err == nil {
				conns[i] = c
			}
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

// sidesOf returns a side for each service that calls measure with it.
func sidesOf(services []drivers.Service, measure func(context.Context, drivers.Service) ([]float64, error)) (sides []side) {
	for _, s := range services {
		sides = append(sides, func(ctx context.Context) ([]float64, error) { return measure(ctx, s) })
	}
	return sides
}

// rate returns the number of calls answered per second on new sessions. The sessions, and so
// their ephemeral nodes, are closed before it returns.
func (b *bench) rate(ctx context.Context, s drivers.Service, call call) ([]float64, error) {
	conns, err := dial(ctx, s, b.connections)
	if err != nil {
		return nil, err
	}
	defer closeAll(conns)
	calls, took, err := repeat(ctx, conns, b.inFlight, b.window, call)
	return []float64{float64(calls) / took.Seconds()}, err
}

// repeat runs the given number of callers on each connection. Each makes one call after the
// other for the window, and at least one. took includes the last calls, so it is a little
// longer than the window.
func repeat(ctx context.Context, conns []drivers.Conn, callers int, window time.Duration, call call) (calls int64, took time.Duration, err error) {
	g, ctx := errgroup.WithContext(ctx)
	var total atomic.Int64
	start := time.Now()
	for n := range len(conns) * callers {
		g.Go(func() (err error) {
			made := 0
			for ; err == nil && (made == 0 || time.Since(start) < window); made++ {
				err = call(ctx, conns[n%len(conns)], n+made)
			}
			total.Add(int64(made))
			return err
		})
	}
	err = g.Wait()
	return total.Load(), time.Since(start), err
}

// latency returns the median time in nanoseconds of sets made one at a time.
func (b *bench) latency(ctx context.Context, s drivers.Service) ([]float64, error) {
	return b.oneAtATime(ctx, s, set)
}

// oneAtATime returns the median time in nanoseconds of calls that one session makes one at a time.
func (b *bench) oneAtATime(ctx context.Context, s drivers.Service, call call) ([]float64, error) {
	conns, err := dial(ctx, s, 1)
	if err != nil {
		return nil, err
	}
	defer closeAll(conns)
	return b.medianTime(func() error { return call(ctx, conns[0], 0) })
}

// medianTime calls do repeatedly for a third of the window, at least once, and returns the median
// of its times in nanoseconds.
func (b *bench) medianTime(do func() error) ([]float64, error) {
	var all []float64
	for start := time.Now(); len(all) == 0 || time.Since(start) < b.window/3; {
		began := time.Now()
		if err := do(); err != nil {
			return nil, err
		}
		all = append(all, float64(time.Since(began)))
	}
	return []float64{stats.Median(all).Value}, nil
}
