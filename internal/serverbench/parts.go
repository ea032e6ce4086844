package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/prometheus/procfs"
	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/sync/errgroup"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/cluster"
	"github.com/stampede-bench/stampede/drivers/cluster/reexec"
	"github.com/stampede-bench/stampede/drivers/lean"
	"github.com/stampede-bench/stampede/drivers/wire"
	"github.com/stampede-bench/stampede/internal/serverbench/floor"
	"github.com/stampede-bench/stampede/results/units"
)

// A load is a call made by many callers, with its goals against ZooKeeper and against the floor.
type load struct {
	what          string
	call          call
	servers, near goal
}

// throughputs measures how many operations per second each service answers under the loads.
func (b *bench) throughputs(ctx context.Context, services []drivers.Service, loads ...load) (rows []row, err error) {
	for _, l := range loads {
		figures, err := interleave(ctx, b.rounds, sidesOf(services, func(ctx context.Context, s drivers.Service) ([]float64, error) {
			return b.rate(ctx, s, l.call)
		})...)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row{toZooKeeper, l.what, figures[0].compareWith(1), "/s", l.servers})
		if len(services) > 2 {
			rows = append(rows, row{toFloor, l.what, figures[0].compareWith(2), "/s", l.near})
		}
	}
	return rows, nil
}

const oneSet = "one set of 1 KB at a time"

// operations measures how many operations per second each server answers under load, and the
// latency of a single one. The last side of the latter writes and syncs the same bytes without a
// server.
func operations(ctx context.Context, b *bench) ([]row, error) {
	services, err := b.startThree(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := b.throughputs(ctx, services,
		load{"gets of 100 B", get, ratioAtLeast(3), ratioAtLeast(0.5)},
		load{"sets of 1 KB", set, ratioAtLeast(2), goal{}},
		load{"9 such gets per such set", getOrSet, ratioAtLeast(3.5), goal{}},
		load{"creates, sequential and ephemeral", enqueue, ratioAtLeast(2), goal{}})
	if err != nil {
		return nil, err
	}
	disk, err := floor.Create(filepath.Join(b.dir, "sync"))
	if err != nil {
		return nil, err
	}
	defer disk.Close()
	h := wire.RequestHeader{Xid: 1, Op: wire.OpSetData}
	request := wire.SetDataRequest{Path: large, Data: kilobyte, Version: drivers.AnyVersion}.Append(h.Append(nil))
	log := floor.NewLog(disk)
	sides := append(sidesOf(services, b.latency), func(context.Context) ([]float64, error) {
		return b.medianTime(func() error { return log.Commit(request) })
	})
	figures, err := interleave(ctx, b.rounds, sides...)
	if err != nil {
		return nil, err
	}
	return append(rows,
		row{toZooKeeper, oneSet, figures[0].compareWith(1), "ns", ratioAtMost(0.7)},
		row{toFloor, oneSet, figures[0].compareWith(2), "ns", ratioAtMost(1.2)},
		row{toFloor, "the same, against write and fsync without a server", figures[0].compareWith(3), "ns", goal{}}), nil
}

// fanout measures a write to a node that many sessions watch.
func fanout(ctx context.Context, b *bench) ([]row, error) {
	services, err := b.startThree(ctx)
	if err != nil {
		return nil, err
	}
	var sides []side
	for _, s := range services {
		conns, err := dial(ctx, s, 1+b.watchers)
		if err != nil {
			return nil, err
		}
		defer closeAll(conns)
		sides = append(sides, func(ctx context.Context) ([]float64, error) { return notifyAll(ctx, conns[0], conns[1:]) })
	}
	figures, err := interleave(ctx, b.changes, sides...)
	if err != nil {
		return nil, err
	}
	last := "a write that " + units.Count(int64(b.watchers)) + " sessions watch, until the last is notified"
	return []row{
		{toZooKeeper, last, figures[0].compareWith(1), "ns", ratioAtMost(1. / 3)},
		{toZooKeeper, "the same, until the writer is answered", figures[1].compareWith(1), "ns", ratioAtMost(1. / 5)},
		{toFloor, last, figures[0].compareWith(2), "ns", ratioAtMost(1.3)},
	}, nil
}

// notifyAll arms the watches and writes the node. It returns the time in nanoseconds from sending
// the write until the last session was notified, and until the write was answered.
func notifyAll(ctx context.Context, writer drivers.Conn, watchers []drivers.Conn) ([]float64, error) {
	var left atomic.Int64
	left.Store(int64(len(watchers)))
	last, lost := make(chan time.Time, 1), make(chan struct{}, len(watchers))
	notified := func(e drivers.Event) {
		if e.Type == drivers.Lost {
			lost <- struct{}{}
		}
		if left.Add(-1) == 0 {
			last <- time.Now()
		}
	}
	if err := each(watchers, func(c drivers.Conn) error {
		_, _, err := c.Get(ctx, large, notified)
		return err
	}); err != nil {
		return nil, err
	}
	issued := time.Now()
	if err := set(ctx, writer, 0); err != nil {
		return nil, err
	}
	answered := time.Since(issued)
	select {
	case end := <-last:
		return []float64{float64(end.Sub(issued)), float64(answered)}, nil
	case <-lost:
		return nil, errors.New("a session that watches was lost")
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// sessions measures the memory that many sessions use in each server and in their client, which
// is a process of its own, and the notifications per release of a lock for which as many wait.
func sessions(ctx context.Context, b *bench) ([]row, error) {
	var server, client, notifications [2][]float64
	for i, url := range b.urls() {
		s, err := b.start(ctx, url)
		if err != nil {
			return nil, err
		}
		memory, err := b.sessionMemory(ctx, s.Members()[0])
		if err != nil {
			return nil, err
		}
		server[i], client[i] = memory[:1], memory[1:]
		r, err := b.stampedeRun(ctx, s, "lock", b.sessions, "--form", "recipe", "--hold", "0s", "--rounds", strconv.Itoa(b.releases))
		if err != nil {
			return nil, err
		}
		notifications[i] = []float64{float64(r.Herd.Notifications) / float64(r.Herd.Triggers)}
		b.release = s.Info().Server
		if err := b.stop(); err != nil {
			return nil, err
		}
	}
	many := units.Count(int64(b.sessions))
	return []row{
		{toZooKeeper, many + " sessions: the server's memory", compare(server[0], server[1]), "B", leftBelow(200<<20, "B")},
		{toZooKeeper, many + " sessions: the client's memory", compare(client[0], client[1]), "B", leftBelow(250<<20, "B")},
		{toZooKeeper, "notifications per release of a lock they wait for", compare(notifications[0], notifications[1]), "", exactly(1)},
	}, nil
}

// sessionMemory opens sessions in a client process. It returns the resident memory of the server and
// of the client in bytes while the sessions only send heartbeats.
func (b *bench) sessionMemory(ctx context.Context, m drivers.Member) ([]float64, error) {
	client, err := reexec.Start(ctx, sessionsRole, m.Address(), strconv.Itoa(b.sessions))
	if err != nil {
		return nil, err
	}
	err = drivers.Pause(ctx, b.quiet)
	server, serverErr := resident(cluster.PID(m))
	own, clientErr := resident(client.PID())
	return []float64{server, own}, errors.Join(err, serverErr, clientErr, client.Stop())
}

// holdSessions is the role of the process that holds sessions until the context ends. Its arguments
// are the server's address and the number of sessions.
func holdSessions(ctx context.Context, args []string, ready func(string)) error {
	s, err := lean.New(lean.Config{Servers: args[:1]})
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	conns, err := dial(ctx, s, n)
	if err != nil {
		return err
	}
	defer closeAll(conns)
	ready("open")
	<-ctx.Done()
	return nil
}

// resident returns the resident memory of a process in bytes.
func resident(pid int) (float64, error) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0, err
	}
	s, err := p.NewStatus()
	return float64(s.VmRSS), err
}

// nodes measures the memory that many nodes use in each server, and the time that a server
// needs to answer after a start from a snapshot of them.
func nodes(ctx context.Context, b *bench) ([]row, error) {
	both, err := b.startBoth(ctx)
	if err != nil {
		return nil, err
	}
	var memory [2]float64
	for i, s := range both {
		if memory[i], err = b.fill(ctx, s); err != nil {
			return nil, err
		}
	}
	// The native server has saved snapshots by now. ZooKeeper saves another one after its next
	// start, which happens in the round that does not count.
	figures, err := interleave(ctx, b.rounds, sidesOf(both, b.recover)...)
	if err != nil {
		return nil, err
	}
	many := units.Count(int64(b.parents * b.children))
	return []row{
		{toZooKeeper, many + " nodes of 100 B: the server's memory", compare(memory[:1], memory[1:]), "B", leftAtMost(400<<20, "B")},
		{toZooKeeper, "start on a snapshot of them, until the first answer", figures[0].compareWith(1), "ns", ratioAtMost(1. / 2)},
	}, nil
}

// fill creates the nodes and returns the server's memory in bytes afterwards.
func (b *bench) fill(ctx context.Context, s drivers.Service) (float64, error) {
	conns, err := dial(ctx, s, b.connections)
	if err != nil {
		return 0, err
	}
	defer closeAll(conns)
	g, making := errgroup.WithContext(ctx)
	g.SetLimit(b.connections * b.inFlight)
	for p := range b.parents {
		g.Go(func() error {
			c := conns[p%len(conns)]
			_, err := c.Create(making, fmt.Sprintf("/parent-%d", p), nil, 0)
			for child := 0; err == nil && child < b.children; child++ {
				_, err = c.Create(making, childPath(p, child), hundredBytes, 0)
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return 0, err
	}
	if err := drivers.Pause(ctx, b.quiet); err != nil {
		return 0, err
	}
	return resident(cluster.PID(s.(drivers.Ensemble).Members()[0]))
}

func childPath(parent, child int) string { return fmt.Sprintf("/parent-%d/child-%d", parent, child) }

// recover kills a server and returns the time in nanoseconds from its start until it answers a read
// of the last node.
func (b *bench) recover(ctx context.Context, s drivers.Service) ([]float64, error) {
	m := s.(drivers.Ensemble).Members()[0]
	if err := m.Kill(); err != nil {
		return nil, err
	}
	start := time.Now()
	if err := m.Restart(ctx); err != nil {
		return nil, err
	}
	if _, err := awaitLeader(ctx, s); err != nil {
		return nil, err
	}
	conns, err := dial(ctx, s, 1)
	if err != nil {
		return nil, err
	}
	defer closeAll(conns)
	_, _, err = conns[0].Get(ctx, childPath(b.parents-1, b.children-1), nil)
	return []float64{float64(time.Since(start))}, err
}

// The load of the clients' comparison: 256 gets in flight, over the number of connections at
// which go-zookeeper performs best.
const (
	clientConns   = 8
	clientCallers = 32
)

// A bareConn is a session of a library without stampede's code, as far as get needs one.
type bareConn struct {
	drivers.Conn
	get   func(ctx context.Context, path string) error
	close func() error
}

func (c bareConn) Get(ctx context.Context, path string, _ drivers.Watch) ([]byte, drivers.Stat, error) {
	return nil, drivers.Stat{}, c.get(ctx, path)
}

func (c bareConn) Close() error { return c.close() }

// clients measures the cost of a get to the client process, with the lean client and with
// unmodified go-zookeeper, on the same native server.
func clients(ctx context.Context, b *bench) ([]row, error) {
	s, err := b.start(ctx, b.urls()[0])
	if err != nil {
		return nil, err
	}
	own, err := dial(ctx, s, clientConns)
	if err != nil {
		return nil, err
	}
	defer closeAll(own)
	library, err := dialThrough(ctx, clientConns, func(context.Context) (drivers.Conn, error) {
		c, _, err := zk.Connect([]string{s.Members()[0].Address()}, timeout, zk.WithLogInfo(false))
		get := func(_ context.Context, path string) error {
			_, _, err := c.Get(path)
			return err
		}
		return bareConn{get: get, close: func() error { c.Close(); return nil }}, err
	})
	if err != nil {
		return nil, err
	}
	defer closeAll(library)
	figures, err := interleave(ctx, b.rounds,
		func(ctx context.Context) ([]float64, error) { return b.cost(ctx, own) },
		func(ctx context.Context) ([]float64, error) { return b.cost(ctx, library) })
	if err != nil {
		return nil, err
	}
	return []row{
		{toGoZooKeeper, "processor time per get, 256 in flight", figures[0].compareWith(1), "ns", ratioAtMost(1. / 4)},
		{toGoZooKeeper, "allocations per get", figures[1].compareWith(1), "", leftAtMost(4, "")},
	}, nil
}

// cost returns the processor time in nanoseconds and the allocations of one get.
func (b *bench) cost(ctx context.Context, conns []drivers.Conn) ([]float64, error) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := processorTime()
	gets, _, err := repeat(ctx, conns, clientCallers, b.window, get)
	ended := processorTime()
	runtime.ReadMemStats(&after)
	n := float64(gets)
	return []float64{float64(ended-began) / n, float64(after.Mallocs-before.Mallocs) / n}, err
}

// processorTime returns the processor time in nanoseconds that this process has used.
func processorTime() int64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u) // fails for other processes only
	return u.Utime.Nano() + u.Stime.Nano()
}

// mix compares the gets per second of stampede run mix with those of a loop that only gets, on the
// same server with the same number of connections and requests in flight. The loop uses the lean
// client, or on etcd etcd's own client.
func mix(ctx context.Context, b *bench) (rows []row, err error) {
	urls := b.urls()
	for _, url := range append(urls[:], "etcd:") {
		s, err := b.start(ctx, url)
		if err != nil {
			return nil, err
		}
		loop := func(ctx context.Context) ([]float64, error) { return b.rate(ctx, s, get) }
		if url == "etcd:" {
			conns, err := b.dialEtcd(ctx, s.Members()[0].Address())
			if err != nil {
				return nil, err
			}
			defer closeAll(conns)
			loop = func(ctx context.Context) ([]float64, error) {
				calls, took, err := repeat(ctx, conns, b.inFlight, b.window, get)
				return []float64{float64(calls) / took.Seconds()}, err
			}
		}
		figures, err := interleave(ctx, b.rounds, func(ctx context.Context) ([]float64, error) {
			r, err := b.stampedeRun(ctx, s, "mix", b.connections, "--in-flight", strconv.Itoa(b.inFlight),
				"--reads", "1", "--size", "100", "--duration", b.window.String())
			return []float64{r.ThroughputPerS}, err
		}, loop)
		if err != nil {
			return nil, err
		}
		name := s.Info().Name
		rows = append(rows, row{toLoop, "gets of 100 B on " + name, figures[0].compareWith(1), "/s", ratioAtLeast(0.9)})
		if err := b.stop(); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// dialEtcd opens connections of etcd's own client and creates the key that they read.
func (b *bench) dialEtcd(ctx context.Context, address string) ([]drivers.Conn, error) {
	return dialThrough(ctx, b.connections, func(ctx context.Context) (drivers.Conn, error) {
		c, err := clientv3.New(clientv3.Config{Endpoints: []string{address}, DialTimeout: 10 * time.Second})
		if err != nil {
			return nil, err
		}
		get := func(ctx context.Context, path string) error {
			_, err := c.Get(ctx, path)
			return err
		}
		_, err = c.Put(ctx, small, string(hundredBytes))
		return bareConn{get: get, close: c.Close}, err
	})
}
