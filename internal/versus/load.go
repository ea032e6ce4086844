package main

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/stampede-bench/stampede/drivers"
)

// rate is how many calls a second are answered on new sessions, whose ephemeral
// nodes are gone when it returns.
func (b *bench) rate(ctx context.Context, s *server, call call) ([]float64, error) {
	conns, err := dial(ctx, s.service, b.connections, drivers.Options{})
	if err != nil {
		return nil, err
	}
	defer closeAll(conns)
	calls, took, err := repeat(ctx, conns, b.outstanding, b.window, call)
	return []float64{float64(calls) / took.Seconds()}, err
}

// repeat has so many callers on each connection make one call after the other
// for the window, at least one each; it took a little longer.
func repeat(ctx context.Context, conns []drivers.Conn, callers int, window time.Duration, call call) (calls int, took time.Duration, err error) {
	g, ctx := errgroup.WithContext(ctx)
	made := make([]int, len(conns)*callers)
	start := time.Now()
	for n := range made {
		g.Go(func() (err error) {
			for err == nil && (made[n] == 0 || time.Since(start) < window) {
				err = call(ctx, conns[n%len(conns)], n+made[n])
				made[n]++
			}
			return err
		})
	}
	err = g.Wait()
	took = time.Since(start)
	for _, n := range made {
		calls += n
	}
	return calls, took, err
}

// latency is the median of sets that are made one at a time, in seconds.
func (b *bench) latency(ctx context.Context, s *server) ([]float64, error) {
	conns, err := dial(ctx, s.service, 1, drivers.Options{})
	if err != nil {
		return nil, err
	}
	defer closeAll(conns)
	var all []float64
	for start := time.Now(); len(all) == 0 || time.Since(start) < b.window/3; {
		issued := time.Now()
		if err := set(ctx, conns[0], 0); err != nil {
			return nil, err
		}
		all = append(all, time.Since(issued).Seconds())
	}
	return []float64{median(all)}, nil
}
