package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
)

// A bench holds what all parts need: the programs of both servers, and a directory for their
// data.
type bench struct {
	scale
	dir       string
	stampede  string // the built command
	zookeeper zookeeper.Installation
	running   []*server
	ensembles []drivers.Service
	busy      float64 // load average before the start, NaN where it is not available
	release   string  // ZooKeeper's version, once a server has reported it
}

// open finds ZooKeeper and builds stampede.
func open(ctx context.Context, sc scale) (*bench, error) {
	installed, err := zookeeper.FindInstallation()
	if err != nil {
		return nil, fmt.Errorf("nothing to compare with: %w", err)
	}
	if err := enoughFiles(sc.files()); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "stampede-serverbench-")
	if err != nil {
		return nil, err
	}
	b := &bench{scale: sc, dir: dir, stampede: filepath.Join(dir, "stampede"), zookeeper: installed, busy: loadAverage()}
	build := exec.CommandContext(ctx, "go", "build", "-o", b.stampede, "github.com/stampede-bench/stampede/cmd/stampede")
	if output, err := build.CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("build stampede: %w: %s", err, strings.TrimSpace(string(output))), b.close())
	}
	return b, nil
}

// loadAverage returns the load average of the last minute.
func loadAverage() float64 {
	load := math.NaN()
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		fmt.Sscan(string(text), &load)
	}
	return load
}

// enoughFiles checks that this process may open the needed number of files. The Go runtime has
// already raised the soft limit to the hard limit.
func enoughFiles(needed uint64) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	if limit.Cur < needed {
		return fmt.Errorf("a process may open %d files here and needs %d: raise it, as with ulimit -n %d", limit.Cur, needed, needed)
	}
	return nil
}

// stop ends all servers and removes their data.
func (b *bench) stop() error {
	var errs []error
	for _, s := range b.running {
		if s.process != nil {
			s.process.Stop() // the exit status no longer matters
		}
		errs = append(errs, os.RemoveAll(s.dir))
	}
	for _, s := range b.ensembles {
		errs = append(errs, s.Close())
	}
	b.running, b.ensembles = nil, nil
	return errors.Join(errs...)
}

// close stops all servers and removes all files.
func (b *bench) close() error { return errors.Join(b.stop(), os.RemoveAll(b.dir)) }
