package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/prometheus/procfs"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/cluster/reexec"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
	"github.com/stampede-bench/stampede/internal/openfiles"
	"github.com/stampede-bench/stampede/internal/serverbench/floor"
	"github.com/stampede-bench/stampede/results"
)

// A scale is the size of the load in each part.
type scale struct {
	ensembles bool   // compare ensembles instead of single servers
	only      string // the only part to measure; "" for all

	// Throughput: the number of connections and of requests in flight on each. Sides are
	// interleaved, each for the window; a single request at a time is measured for a third of
	// it.
	connections, inFlight int
	rounds                int
	window                time.Duration
	loaded                time.Duration // full load of an ensemble in which elections are counted

	watchers, changes int // number of sessions that watch a node, and of writes to it

	sessions, releases int           // number of sessions that wait for a lock, and of its releases
	quiet              time.Duration // time without load before memory is measured

	parents, children int // number of parent nodes, and of children of each
}

// full takes some minutes, and with ensembles a quarter of an hour. A thousand requests in flight are
// far more than either server can commit to disk together, and few enough per session that a single
// connection is not the bottleneck. Six is the smallest number of rounds that gives an interval of 95 %.
func full() scale {
	return scale{
		connections: 64, inFlight: 16, rounds: 6, window: 2 * time.Second, loaded: 10 * time.Minute,
		watchers: 5_000, changes: 11,
		sessions: 10_000, releases: 200, quiet: 10 * time.Second,
		parents: 1_000, children: 1_000,
	}
}

// A bench holds what all parts need.
type bench struct {
	scale
	dir      string
	stampede string         // the built command
	closers  []func() error // end what a part has started
	busy     float64        // load average before the start, NaN where it is not available
	release  string         // ZooKeeper's version, once a server has reported it
}

// open finds ZooKeeper and builds stampede.
func open(ctx context.Context, sc scale) (*bench, error) {
	if _, err := zookeeper.FindInstallation(); err != nil {
		return nil, fmt.Errorf("nothing to compare with: %w", err)
	}
	// At most, the watchers of both servers and of the floor are open, or the sessions that wait
	// for the lock, plus a reserve.
	if err := enoughFiles(uint64(max(3*sc.watchers, sc.sessions) + 500)); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "stampede-serverbench-")
	if err != nil {
		return nil, err
	}
	b := &bench{scale: sc, dir: dir, stampede: filepath.Join(dir, "stampede"), busy: loadAverage(), release: "ZooKeeper"}
	build := exec.CommandContext(ctx, "go", "build", "-o", b.stampede, "github.com/stampede-bench/stampede/cmd/stampede")
	if output, err := build.CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("build stampede: %w: %s", err, bytes.TrimSpace(output)), b.close())
	}
	return b, nil
}

// loadAverage returns the load average of the last minute.
func loadAverage() float64 {
	if proc, err := procfs.NewDefaultFS(); err == nil {
		if load, err := proc.LoadAvg(); err == nil {
			return load.Load1
		}
	}
	return math.NaN()
}

// enoughFiles checks that this process may open the needed number of files.
func enoughFiles(needed uint64) error {
	if limit := openfiles.Limit(); limit < needed {
		return fmt.Errorf("a process may open %d files here and needs %d: raise it, as with ulimit -n %d", limit, needed, needed)
	}
	return nil
}

// start starts the servers of a URL and creates the nodes that the operations use.
func (b *bench) start(ctx context.Context, url string) (drivers.Ensemble, error) {
	s, err := b.connect(ctx, url)
	if err != nil {
		return nil, err
	}
	return s.(drivers.Ensemble), createNodes(ctx, s)
}

// connect opens the service of a URL, which stop closes.
func (b *bench) connect(ctx context.Context, url string) (drivers.Service, error) {
	target, err := backends.Parse(url)
	if err != nil {
		return nil, err
	}
	s, err := target.Open(ctx)
	if err != nil {
		return nil, err
	}
	b.closers = append(b.closers, s.Close)
	return s, nil
}

// urls returns the URLs of the two kinds of servers, in the order of the table. All sync every write.
func (sc scale) urls() [2]string {
	if sc.ensembles {
		return [2]string{"native:?servers=3&durability=fsync", "zookeeper:?servers=3"}
	}
	return [2]string{"native:?durability=fsync", "zookeeper:"}
}

// startBoth starts the servers of each kind.
func (b *bench) startBoth(ctx context.Context) (both []drivers.Service, err error) {
	for _, url := range b.urls() {
		s, err := b.start(ctx, url)
		if err != nil {
			return nil, err
		}
		both, b.release = append(both, s), s.Info().Server
	}
	return both, nil
}

// startThree starts a server of each kind and the floor.
func (b *bench) startThree(ctx context.Context) ([]drivers.Service, error) {
	both, err := b.startBoth(ctx)
	if err != nil {
		return nil, err
	}
	p, err := reexec.Start(ctx, floor.Role, b.dir)
	if err != nil {
		return nil, err
	}
	b.closers = append(b.closers, p.Stop)
	bare, err := b.connect(ctx, "zookeeper://"+p.Addr())
	return append(both, bare), err
}

// stampedeRun runs a recipe on the started server with the command stampede and returns the run.
func (b *bench) stampedeRun(ctx context.Context, s drivers.Ensemble, recipe string, clients int, flags ...string) (r results.Run, err error) {
	url := s.Info().Name + "://" + s.Members()[0].Address()
	n := strconv.Itoa(clients)
	c := exec.CommandContext(ctx, b.stampede, append([]string{"run", recipe, "--backend", url, "--clients", n,
		"--max-sessions", strconv.Itoa(clients + 1), "--warmup", "0s", "--quiet", "--no-save", "--output", "json"}, flags...)...)
	c.Dir = b.dir
	var messages bytes.Buffer
	c.Stderr = &messages
	out, err := c.Output()
	if err != nil {
		return r, fmt.Errorf("stampede run %s: %w: %s", recipe, err, bytes.TrimSpace(messages.Bytes()))
	}
	file, err := results.Read(bytes.NewReader(out))
	if err != nil {
		return r, fmt.Errorf("stampede run %s: %w", recipe, err)
	}
	return file.Runs[0], nil
}

// stop ends what a part has started, the last one first.
func (b *bench) stop() (err error) {
	for len(b.closers) > 0 {
		last := len(b.closers) - 1
		err = errors.Join(err, b.closers[last]())
		b.closers = b.closers[:last]
	}
	return err
}

// close ends everything and removes all files.
func (b *bench) close() error { return errors.Join(b.stop(), os.RemoveAll(b.dir)) }
