package catalog_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

// BenchmarkMixInFlight reports the CPU time and the allocations of this process for
// one get of a mix. It compares them with those of one get of a bare loop, through the
// same client or, for etcd, through etcd's own client. Both have 64 sessions with 16
// requests in flight each. The server is a separate process, and its CPU time is
// reported too: where client and server together use all processors, the sum bounds
// the throughput.
//
//	go test -run '^$' -bench MixInFlight -benchtime 300000x ./workloads/catalog
func BenchmarkMixInFlight(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // the same setting as the command's
	for _, url := range []string{"native:", "zookeeper:", "etcd:"} {
		s := backendtest.Own(b, url)
		b.Run(fmt.Sprint(s.Info().Name, "/loop"), func(b *testing.B) { spent(b, bareLoop(b, s)) })
		b.Run(fmt.Sprint(s.Info().Name, "/mix"), func(b *testing.B) { spent(b, func(b *testing.B) { mixed(b, s) }) })
	}
}

const (
	mixClients = 64
	mixWindow  = 16 // requests in flight on each session
)

// spent reports the cost of one of b.N operations.
func spent(b *testing.B, run func(*testing.B)) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	client, server := processorTime(b), serverTime(b)
	run(b)
	client, server = processorTime(b)-client, serverTime(b)-server
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(client)/float64(b.N), "cpu-ns/op")
	b.ReportMetric(float64(server)/float64(b.N), "server-cpu-ns/op")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(b.N), "mallocs/op")
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(b.N), "B/op")
}

func mixed(b *testing.B, s drivers.Service) {
	chosen, err := catalog.Select(catalog.Forms(), []string{"mix"}, nil)
	if err != nil {
		b.Fatal(err)
	}
	r, err := workloads.Run(b.Context(), workloads.Plan{Service: s, Form: chosen[0].Form, Clients: mixClients,
		Settings: workloads.Settings{Mix: workloads.MixSettings{Reads: 1, Size: 100, InFlight: mixWindow}},
		Duration: time.Hour, Rounds: int64(b.N)})
	if err != nil {
		b.Fatal(err)
	}
	if r.Counts.Reads != r.Rounds && r.Counts.Reads > r.Rounds+mixClients*mixWindow {
		b.Errorf("%d reads on the wire in %d rounds", r.Counts.Reads, r.Rounds)
	}
}

// bareLoop opens the sessions and returns a function that makes b.N gets in them.
func bareLoop(b *testing.B, s drivers.Service) func(*testing.B) {
	gets := make([]func(context.Context) error, mixClients)
	for i := range gets {
		gets[i] = bareGet(b, s)
	}
	return func(b *testing.B) {
		var left atomic.Int64
		left.Store(int64(b.N))
		var callers sync.WaitGroup
		for i := range mixClients * mixWindow {
			callers.Go(func() {
				for left.Add(-1) >= 0 {
					if err := gets[i%mixClients](b.Context()); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		callers.Wait()
	}
}

// bareGet opens a session and returns a function that reads one node in it.
func bareGet(b *testing.B, s drivers.Service) func(context.Context) error {
	const path = "/bare"
	if s.Info().Name == "etcd" {
		c, err := clientv3.New(clientv3.Config{Endpoints: []string{s.(drivers.Ensemble).Members()[0].Address()}})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { c.Close() })
		if _, err := c.Put(b.Context(), path, string(make([]byte, 100))); err != nil {
			b.Fatal(err)
		}
		return func(ctx context.Context) error {
			_, err := c.Get(ctx, path)
			return err
		}
	}
	c, err := s.Dial(b.Context(), drivers.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	_, _ = c.Create(b.Context(), path, make([]byte, 100), 0) // another session may have created it
	return func(ctx context.Context) error {
		_, _, err := c.Get(ctx, path, nil)
		return err
	}
}

// serverTime returns the CPU time of this process's descendants.
func serverTime(b *testing.B) (used time.Duration) {
	for _, pid := range descendants(b) {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		for _, file := range threads {
			var ns int64
			text, _ := os.ReadFile(file)
			fmt.Sscan(string(text), &ns)
			used += time.Duration(ns)
		}
	}
	return used
}

// processorTime returns the CPU time of this process.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
