package main

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
	"github.com/stampede-bench/stampede/internal/serverbench/floor"
	"github.com/stampede-bench/stampede/results/stats"
)

// steps measures what one set at a time is made of: a request and its reply, what a single server adds, the way
// of a write through an ensemble by its leader and by a follower, and a write and a sync of the same bytes
// without a server.
func steps(ctx context.Context, b *bench) ([]row, error) {
	ensembles, err := b.startBoth(ctx)
	if err != nil {
		return nil, err
	}
	single := *b
	single.ensembles, single.closers = false, nil
	singles, err := single.startBoth(ctx)
	b.closers = append(b.closers, single.closers...)
	if err != nil {
		return nil, err
	}
	var logs []*floor.Log
	for i := range 3 {
		disk, err := floor.Create(filepath.Join(b.dir, fmt.Sprint("sync", i)))
		if err != nil {
			return nil, err
		}
		defer disk.Close()
		logs = append(logs, floor.NewLog(disk))
	}
	h := wire.RequestHeader{Xid: 1, Op: wire.OpSetData}
	request := wire.SetDataRequest{Path: large, Data: kilobyte, Version: drivers.AnyVersion}.Append(h.Append(nil))
	var sides []side
	for i := range ensembles {
		leader, follower, err := b.byRole(ctx, ensembles[i])
		if err != nil {
			return nil, err
		}
		sides = append(sides, func(ctx context.Context) (all []float64, err error) {
			for _, step := range []struct {
				on   drivers.Service
				call call
			}{{leader, get}, {follower, get}, {singles[i], set}, {leader, set}, {follower, set}} {
				took, err := b.oneAtATime(ctx, step.on, step.call)
				if err != nil {
					return nil, err
				}
				all = append(all, took...)
			}
			for n := range 2 {
				took, err := b.medianTime(func() error { return commit(logs[:1+2*n], request) })
				if err != nil {
					return nil, err
				}
				all = append(all, took...)
			}
			return all, nil
		})
	}
	figures, err := interleave(ctx, b.rounds, sides...)
	if err != nil {
		return nil, err
	}
	var rows []row
	for i, what := range []string{"a get at the leader", "a get at a follower", "a set at a single server", "a set at the leader", "a set at a follower"} {
		rows = append(rows, row{toZooKeeper, what, figures[i].compareWith(1), "ns", goal{}})
	}
	for _, what := range []string{"write and fsync without a server", "three at the same time, until two are done"} {
		bare := stats.Median(slices.Concat(figures[len(rows)]...)).Value
		rows = append(rows, row{toZooKeeper, what, compare([]float64{bare}, []float64{math.NaN()}), "ns", goal{}})
	}
	return rows, nil
}

// commit writes and syncs the bytes in all logs at the same time, and returns when a majority has.
func commit(logs []*floor.Log, request []byte) error {
	done := make(chan error, len(logs))
	for _, log := range logs {
		go func() { done <- log.Commit(request) }()
	}
	for range len(logs)/2 + 1 {
		if err := <-done; err != nil {
			return err
		}
	}
	return nil
}

// byRole returns the leader and a follower, each as a service of its own.
func (b *bench) byRole(ctx context.Context, s drivers.Service) (leader, follower drivers.Service, err error) {
	leads, err := awaitLeader(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	for _, m := range s.(drivers.Ensemble).Members() {
		one, err := b.connect(ctx, "zookeeper://"+m.Address())
		if err != nil {
			return nil, nil, err
		}
		if m.Address() == leads.Address() {
			leader = one
		} else {
			follower = one
		}
	}
	return leader, follower, nil
}
