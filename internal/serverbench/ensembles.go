package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/results/units"
)

// throughput measures how many operations per second each ensemble answers to sessions that are spread
// over its members, and the latency of a single one.
func throughput(ctx context.Context, b *bench) ([]row, error) {
	both, err := b.startBoth(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := b.throughputs(ctx, both,
		load{"gets of 100 B", get, ratioAtLeast(3), goal{}},
		load{"sets of 1 KB", set, ratioAtLeast(2), goal{}},
		load{"9 such gets per such set", getOrSet, goal{}, goal{}})
	if err != nil {
		return nil, err
	}
	figures, err := interleave(ctx, b.rounds, sidesOf(both, b.latency)...)
	if err != nil {
		return nil, err
	}
	return append(rows, row{toZooKeeper, oneSet, figures[0].compareWith(1), "ns", goal{}}), nil
}

// failover measures the time from the end of a leader under load to the next write.
func failover(ctx context.Context, b *bench) ([]row, error) {
	both, err := b.startBoth(ctx)
	if err != nil {
		return nil, err
	}
	figures, err := interleave(ctx, b.rounds, sidesOf(both, b.killLeader)...)
	if err != nil {
		return nil, err
	}
	return []row{{toZooKeeper, "leader killed until the next write", figures[0].compareWith(1), "ns", ratioAtMost(0.5)}}, nil
}

// killLeader kills the leader while sessions on all members write. It returns the time in nanoseconds
// until a write that began later is acknowledged, restarts the member, and waits until all members
// serve. A lost session is an error.
func (b *bench) killLeader(ctx context.Context, s drivers.Service) ([]float64, error) {
	conns, err := dial(ctx, s, b.connections)
	if err != nil {
		return nil, err
	}
	defer closeAll(conns)
	leader, err := awaitLeader(ctx, s)
	if err != nil {
		return nil, err
	}
	var killed atomic.Pointer[time.Time]
	next := make(chan time.Time, 1)
	writing, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	for n := range len(conns) * b.inFlight {
		all.Go(func() {
			for writing.Err() == nil {
				began := time.Now()
				if err := set(writing, conns[n%len(conns)], 0); err != nil {
					continue // the connection was to the leader
				}
				if end := killed.Load(); end != nil && began.After(*end) {
					select {
					case next <- time.Now():
					default: // it is not the first
					}
				}
			}
		})
	}
	var took time.Duration
	if err = leader.Kill(); err == nil {
		end := time.Now()
		killed.Store(&end)
		select {
		case first := <-next:
			took = first.Sub(end)
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	stop()
	all.Wait()
	if err == nil {
		err = leader.Restart(ctx)
	}
	if err == nil {
		_, err = awaitLeader(ctx, s)
	}
	for _, c := range conns {
		select {
		case <-c.Done():
			err = errors.Join(err, errors.New("a session was lost"))
		default:
		}
	}
	return []float64{float64(took)}, err
}

// allServe is the longest time for all members to serve after a restart.
const allServe = time.Minute

// awaitLeader waits until all members serve and returns the leader.
func awaitLeader(ctx context.Context, s drivers.Service) (drivers.Member, error) {
	ctx, cancel := context.WithTimeout(ctx, allServe)
	defer cancel()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		if leader := leaderOf(ctx, s); leader != nil {
			return leader, nil
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("%s: not all members serve: %w", s.Info().Name, context.Cause(ctx))
		}
	}
}

// leaderOf returns the leader, or nil if there is none or not all members serve. A server that is
// starting may accept a question that it never answers, so each has little time.
func leaderOf(ctx context.Context, s drivers.Service) (leader drivers.Member) {
	for _, m := range s.(drivers.Ensemble).Members() {
		asking, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		leads, err := m.Leads(asking)
		cancel()
		if err != nil {
			return nil
		}
		if leads {
			leader = m
		}
	}
	return leader
}

// elections counts the elections of three native servers that are under full load for a long time: a
// leader that is slow because it is busy must not be replaced. A request that fails is an error.
func elections(ctx context.Context, b *bench) ([]row, error) {
	s, err := b.start(ctx, b.urls()[0])
	if err != nil {
		return nil, err
	}
	conns, err := dial(ctx, s, b.connections)
	if err != nil {
		return nil, err
	}
	defer closeAll(conns)
	before, err := epoch(ctx, conns[0])
	if err != nil {
		return nil, err
	}
	sets, took, err := repeat(ctx, conns, b.inFlight, b.loaded, set)
	if err != nil {
		return nil, err
	}
	after, err := epoch(ctx, conns[0])
	if err != nil {
		return nil, err
	}
	unknown := []float64{math.NaN()}
	length := units.Duration(b.loaded)
	return []row{
		{toZooKeeper, "elections in " + length + " of sets", compare([]float64{float64(after - before)}, unknown), "", exactly(0)},
		{toZooKeeper, "sets of 1 KB in these " + length, compare([]float64{float64(sets) / took.Seconds()}, unknown), "/s", goal{}},
	}, nil
}

// epoch writes and returns the epoch of the write, which each election raises: the upper half of its
// zxid.
func epoch(ctx context.Context, c drivers.Conn) (int64, error) {
	stat, err := c.Set(ctx, large, kilobyte, drivers.AnyVersion)
	return stat.Modified >> 32, err
}
