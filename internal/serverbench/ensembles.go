package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
)

// ensembleParts returns the parts that compare three native servers with three ZooKeepers.
func ensembleParts() []part {
	return []part{
		{"throughput", "operations of ensembles", throughput},
		{"failover", "the end of a leader", failover},
		{"elections", "elections under full load", elections},
	}
}

// bothEnsembles starts three servers of each kind, which sync every write.
func (b *bench) bothEnsembles(ctx context.Context) (both [2]drivers.Ensemble, err error) {
	for i, url := range []string{nativeEnsemble, "zookeeper:?servers=3"} {
		if both[i], err = b.startEnsemble(ctx, url); err != nil {
			return both, err
		}
	}
	b.release = both[1].Info().Server
	return both, nil
}

const nativeEnsemble = "native:?servers=3&durability=fsync"

// startEnsemble starts the servers of the URL and creates the nodes that the operations use.
func (b *bench) startEnsemble(ctx context.Context, url string) (drivers.Ensemble, error) {
	target, err := backends.Parse(url)
	if err != nil {
		return nil, err
	}
	s, err := target.Open(ctx)
	if err != nil {
		return nil, err
	}
	b.ensembles = append(b.ensembles, s)
	return s.(drivers.Ensemble), createNodes(ctx, s)
}

// throughput measures how many operations per second each ensemble answers to sessions that are spread
// over its members, and the latency of a single one.
func throughput(ctx context.Context, b *bench) (rows []row, err error) {
	both, err := b.bothEnsembles(ctx)
	if err != nil {
		return nil, err
	}
	for _, load := range []struct {
		what string
		call call
		goal goal
	}{
		{"gets of 100 B", get, ratioAtLeast(3)},
		{"sets of 1 KB", set, ratioAtLeast(2)},
		{"9 such gets per such set", getOrSet, none},
	} {
		figures, err := interleave(b.rounds, len(both), func(side int) ([]float64, error) {
			return b.rate(ctx, both[side], load.call)
		})
		if err != nil {
			return nil, err
		}
		rows = append(rows, row{load.what, figures[0].against(1), perSecond, load.goal, ofServers})
	}
	figures, err := interleave(b.rounds, len(both), func(side int) ([]float64, error) { return b.latency(ctx, both[side]) })
	if err != nil {
		return nil, err
	}
	return append(rows, row{"one set of 1 KB at a time", figures[0].against(1), duration, none, ofServers}), nil
}

// failover measures the time from the end of a leader under load to the next write.
func failover(ctx context.Context, b *bench) ([]row, error) {
	both, err := b.bothEnsembles(ctx)
	if err != nil {
		return nil, err
	}
	figures, err := interleave(b.rounds, len(both), func(side int) ([]float64, error) {
		took, err := b.killLeader(ctx, both[side])
		return []float64{took.Seconds()}, err
	})
	if err != nil {
		return nil, err
	}
	return []row{{"leader killed until the next write", figures[0].against(1), duration, ratioAtMost(0.5), ofServers}}, nil
}

// killLeader kills the leader while sessions on all members write. It returns the time until a write
// that began later is acknowledged, restarts the member, and waits until all members serve. A lost
// session is an error.
func (b *bench) killLeader(ctx context.Context, s drivers.Ensemble) (took time.Duration, err error) {
	conns, err := dial(ctx, s, b.connections, drivers.Options{})
	if err != nil {
		return 0, err
	}
	defer closeAll(conns)
	leader, err := awaitLeader(ctx, s)
	if err != nil {
		return 0, err
	}
	w := &writers{}
	writing, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	for _, c := range conns {
		for range b.outstanding {
			all.Go(func() { w.write(writing, c) })
		}
	}
	err = w.await(ctx, leader.Kill, &took)
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
	return took, err
}

// writers write without a pause.
type writers struct {
	mu     sync.Mutex
	killed time.Time
	after  chan time.Time // receives the time of the first acknowledgment of a write that began after killed
}

// await calls kill and sets took to the time from its end to the next write.
func (w *writers) await(ctx context.Context, kill func() error, took *time.Duration) error {
	if err := kill(); err != nil {
		return err
	}
	after := make(chan time.Time, 1)
	w.mu.Lock()
	w.killed, w.after = time.Now(), after
	w.mu.Unlock()
	select {
	case at := <-after:
		*took = at.Sub(w.killed)
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (w *writers) write(ctx context.Context, c drivers.Conn) {
	for ctx.Err() == nil {
		began := time.Now()
		if set(ctx, c, 0) == nil {
			w.acknowledged(began)
		}
	}
}

func (w *writers) acknowledged(began time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.after != nil && began.After(w.killed) {
		w.after <- time.Now()
		w.after = nil
	}
}

// allServe is the longest time for all members to serve after a restart.
const allServe = time.Minute

// awaitLeader waits until all members serve and returns the leader.
func awaitLeader(ctx context.Context, s drivers.Ensemble) (drivers.Member, error) {
	ctx, cancel := context.WithTimeout(ctx, allServe)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
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

// leaderOf returns the leader, or nil if there is none or not all members serve.
func leaderOf(ctx context.Context, s drivers.Ensemble) (leader drivers.Member) {
	for _, m := range s.Members() {
		leads, err := m.Leads(ctx)
		if err != nil {
			return nil
		}
		if leads {
			leader = m
		}
	}
	return leader
}
