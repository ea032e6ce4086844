package main

import (
	"context"
	"runtime"
	"syscall"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/stampede-bench/stampede/drivers"
)

// The load of the clients' comparison: 256 gets in flight, over the number of connections at
// which go-zookeeper performs best.
const (
	clientConns   = 8
	clientCallers = 32
)

// clients measures the cost of a get to the client process, with the lean client and with
// unmodified go-zookeeper, on the same native server.
func clients(ctx context.Context, b *bench) ([]row, error) {
	s, err := b.start(ctx, kinds()[0])
	if err != nil {
		return nil, err
	}
	if err := createNodes(ctx, s.service); err != nil {
		return nil, err
	}
	lean, err := dial(ctx, s.service, clientConns, drivers.Options{})
	if err != nil {
		return nil, err
	}
	defer closeAll(lean)
	library, err := dialLibrary(s.addr, clientConns)
	if err != nil {
		return nil, err
	}
	defer closeAll(library)
	sides := [2][]drivers.Conn{lean, library}
	figures, err := interleave(b.rounds, 2, func(side int) ([]float64, error) { return b.cost(ctx, sides[side]) })
	if err != nil {
		return nil, err
	}
	return []row{
		{"processor time per get, 256 in flight", figures[0].against(1), duration, ratioAtMost(1. / 4), ofClients},
		{"allocations per get", figures[1].against(1), count, leftAtMost(4, ""), ofClients},
	}, nil
}

// cost returns the processor time in seconds and the allocations of one get.
func (b *bench) cost(ctx context.Context, conns []drivers.Conn) ([]float64, error) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began, err := processorTime()
	if err != nil {
		return nil, err
	}
	gets, _, err := repeat(ctx, conns, clientCallers, b.window, get)
	if err != nil {
		return nil, err
	}
	ended, err := processorTime()
	if err != nil {
		return nil, err
	}
	runtime.ReadMemStats(&after)
	return []float64{
		(ended - began).Seconds() / float64(gets),
		float64(after.Mallocs-before.Mallocs) / float64(gets),
	}, nil
}

// processorTime returns the processor time that this process has used.
func processorTime() (time.Duration, error) {
	var u syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), err
}

// A bare session is a session of go-zookeeper without stampede's code, as far as get needs one.
type bare struct {
	drivers.Conn
	conn *zk.Conn
}

func (s bare) Get(_ context.Context, path string, _ drivers.Watch) ([]byte, drivers.Stat, error) {
	data, _, err := s.conn.Get(path)
	return data, drivers.Stat{}, err
}

func (s bare) Close() error {
	s.conn.Close()
	return nil
}

func dialLibrary(addr string, n int) (conns []drivers.Conn, err error) {
	for range n {
		c, _, err := zk.Connect([]string{addr}, timeout, zk.WithLogInfo(false))
		if err != nil {
			return conns, err
		}
		conns = append(conns, bare{conn: c})
	}
	return conns, nil
}
