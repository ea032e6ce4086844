package main

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
	"github.com/stampede-bench/stampede/internal/serverbench/floor"
)

// rate returns the number of calls answered per second on new sessions. The sessions, and so
// their ephemeral nodes, are closed before it returns.
func (b *bench) rate(ctx context.Context, s drivers.Service, call call) ([]float64, error) {
	conns, err := dial(ctx, s, b.connections, drivers.Options{})
	if err != nil {
		return nil, err
	}
	defer closeAll(conns)
	calls, took, err := repeat(ctx, conns, b.outstanding, b.window, call)
	return []float64{float64(calls) / took.Seconds()}, err
}

// repeat runs the given number of callers on each connection. Each makes one call after the
// other for the window, and at least one. took includes the last calls, so it is a little
// longer than the window.
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

// syncs returns the median time in seconds to write the request of a set to the file and sync
// it.
func (b *bench) syncs(file floor.File) ([]float64, error) {
	h := wire.RequestHeader{Xid: 1, Op: wire.OpSetData}
	request := wire.SetDataRequest{Path: large, Data: kilobyte, Version: drivers.AnyVersion}.Append(h.Append(nil))
	log := floor.NewLog(file)
	return b.medianOf(func() error { return log.Commit(request) })
}

// latency returns the median time in seconds of sets made one at a time.
func (b *bench) latency(ctx context.Context, s drivers.Service) ([]float64, error) {
	conns, err := dial(ctx, s, 1, drivers.Options{})
	if err != nil {
		return nil, err
	}
	defer closeAll(conns)
	return b.medianOf(func() error { return set(ctx, conns[0], 0) })
}

// medianOf calls do repeatedly for a third of the window, at least once, and returns the median
// of its times in seconds.
func (b *bench) medianOf(do func() error) ([]float64, error) {
	var all []float64
	for start := time.Now(); len(all) == 0 || time.Since(start) < b.window/3; {
		began := time.Now()
		if err := do(); err != nil {
			return nil, err
		}
		all = append(all, time.Since(began).Seconds())
	}
	return []float64{median(all)}, nil
}
