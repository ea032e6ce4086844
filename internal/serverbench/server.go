package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/stampede-bench/stampede/drivers/cluster/reexec"
	"github.com/stampede-bench/stampede/drivers/lean"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
	"github.com/stampede-bench/stampede/internal/serverbench/floor"
)

// A kind is one of the two kinds of servers.
type kind struct {
	name string
	// command returns the command that runs the server at an address, with its data in dir.
	command func(b *bench, dir, addr string) ([]string, error)
}

// kinds returns the two kinds, in the order of the table.
func kinds() [2]kind {
	return [2]kind{{"native", native}, {"zookeeper", apache}}
}

func native(b *bench, dir, addr string) ([]string, error) {
	return []string{b.stampede, "serve", "--listen", addr, "--data-dir", dir}, nil
}

// heap is the JVM's maximum heap, as in ZooKeeper's own zkServer.sh: a million nodes do not fit
// into the heap that is enough for tests.
const heap = "-Xmx1000m"

func apache(b *bench, dir, addr string) ([]string, error) {
	if err := zookeeper.WriteConfig(dir, addr); err != nil {
		return nil, err
	}
	command := b.zookeeper.Command(context.Background(), dir, nil).Args
	return slices.Insert(command, slices.Index(command, "-cp"), heap), nil
}

// A server is a process with a directory of its own.
type server struct {
	dir     string
	addr    string
	command []string
	process *reexec.Process
	pid     int // of the server itself: process is that of its keeper
	service *lean.Service
}

// start starts a new server of a kind and returns when it serves requests.
func (b *bench) start(ctx context.Context, k kind) (*server, error) {
	dir, err := os.MkdirTemp(b.dir, k.name+"-")
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir}
	b.running = append(b.running, s)
	if s.addr, err = reexec.FreeAddr(); err != nil {
		return nil, err
	}
	if s.command, err = k.command(b, dir, s.addr); err != nil {
		return nil, err
	}
	if s.service, err = lean.New(lean.Config{Servers: []string{s.addr}}); err != nil {
		return nil, err
	}
	if err := s.begin(ctx, "/"); err != nil {
		return nil, fmt.Errorf("%s: %w", k.name, err)
	}
	return s, nil
}

// both starts a server of each kind.
func (b *bench) both(ctx context.Context) (both [2]*server, err error) {
	for i, k := range kinds() {
		if both[i], err = b.start(ctx, k); err != nil {
			return both, err
		}
	}
	b.release = both[1].service.Info().Server
	return both, nil
}

// withFloor starts a server of each kind and the floor.
func (b *bench) withFloor(ctx context.Context) (all [3]*server, err error) {
	both, err := b.both(ctx)
	if err != nil {
		return all, err
	}
	bare, err := b.startFloor(ctx)
	return [3]*server{both[0], both[1], bare}, err
}

func (b *bench) startFloor(ctx context.Context) (*server, error) {
	dir, err := os.MkdirTemp(b.dir, "floor-")
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir}
	b.running = append(b.running, s)
	if s.process, err = reexec.Start(ctx, floor.Role, dir); err != nil {
		return nil, err
	}
	s.addr = s.process.Addr()
	s.service, err = lean.New(lean.Config{Servers: []string{s.addr}})
	return s, err
}

// begin starts the server on the data in its directory and returns when it has answered a read
// of the node.
func (s *server) begin(ctx context.Context, node string) (err error) {
	if s.process, err = reexec.Start(ctx, commandRole, s.command...); err != nil {
		return err
	}
	if s.pid, err = strconv.Atoi(s.process.Addr()); err != nil {
		return err
	}
	starting, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := s.process.Done()
	go func() {
		select {
		case <-ended:
			cancel(errors.New("ended before it served"))
		case <-starting.Done():
		}
	}()
	if err := awaitAnswer(starting, s.addr, node); err != nil {
		if why := s.process.Stop(); why != nil {
			return why
		}
		return err
	}
	return nil
}

// stopTimeout is the longest time for a server to shut down in order.
const stopTimeout = time.Minute

// end sends the server SIGTERM and returns when the server has ended.
func (s *server) end() error {
	if err := syscall.Kill(s.pid, syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-s.process.Done():
		return nil // exit codes after SIGTERM differ
	case <-time.After(stopTimeout):
		return errors.Join(fmt.Errorf("%s: still there %v after SIGTERM", s.command[0], stopTimeout), s.process.Stop())
	}
}
