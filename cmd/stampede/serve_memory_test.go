package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/lean"
	"github.com/stampede-bench/stampede/drivers/server"
)

// BenchmarkServeMillionNodes measures the memory of a server process that holds a million nodes of
// 100 bytes, a thousand below each of a thousand, and again after each was written once more: by
// then garbage has accumulated.
func BenchmarkServeMillionNodes(b *testing.B) {
	b.Run(server.Memory, func(b *testing.B) {
		benchmarkServe(b, func() []string { return nil })
	})
	b.Run(server.Fsync, func(b *testing.B) {
		benchmarkServe(b, func() []string { return []string{"--data-dir", b.TempDir()} })
	})
}

func benchmarkServe(b *testing.B, flags func() []string) {
	for b.Loop() {
		b.StopTimer()
		server, addr := startServe(b, "127.0.0.1:0", flags()...)
		c := dialWire(b, addr)
		b.StartTimer()
		fill(b, c)
		b.StopTimer()
		b.ReportMetric(memoryOf(b, server.Process.Pid, "VmRSS"), "MiB-filled")
		rewrite(b, c)
		b.ReportMetric(memoryOf(b, server.Process.Pid, "VmRSS"), "MiB-rewritten")
		b.ReportMetric(memoryOf(b, server.Process.Pid, "VmHWM"), "MiB-peak")
		c.Close()
		server.Process.Kill()
		server.Wait()
		b.StartTimer()
	}
	b.ReportMetric(float64(b.N)*parents*children/b.Elapsed().Seconds(), "creates/s")
}

func dialWire(b *testing.B, addr string) drivers.Conn {
	b.Helper()
	service, err := lean.New(lean.Config{Servers: []string{addr}})
	if err != nil {
		b.Fatal(err)
	}
	c, err := service.Dial(b.Context(), drivers.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return c
}

const parents, children = 1000, 1000

func parentPath(i int64) string { return fmt.Sprintf("/data-%04d", i) }

func childPath(i int64) string {
	return fmt.Sprintf("%s/node-%010d", parentPath(i%parents), i/parents)
}

func fill(b *testing.B, c drivers.Conn) {
	b.Helper()
	create := func(path string) error {
		_, err := c.Create(b.Context(), path, make([]byte, 100), 0)
		return err
	}
	each(b, parents, func(i int64) error { return create(parentPath(i)) })
	each(b, parents*children, func(i int64) error { return create(childPath(i)) })
}

func rewrite(b *testing.B, c drivers.Conn) {
	b.Helper()
	each(b, parents*children, func(i int64) error {
		_, err := c.Set(b.Context(), childPath(i), make([]byte, 100), drivers.AnyVersion)
		return err
	})
}

// each calls do with every number below count, 256 at a time.
func each(b *testing.B, count int64, do func(int64) error) {
	b.Helper()
	var next atomic.Int64
	var callers sync.WaitGroup
	for range 256 {
		callers.Go(func() {
			for i := next.Add(1) - 1; i < count; i = next.Add(1) - 1 {
				if err := do(i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	callers.Wait()
}

// memoryOf returns a field of a process's status in MiB.
func memoryOf(b *testing.B, pid int, field string) float64 {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	found := regexp.MustCompile(field + `:\s+(\d+) kB`).FindSubmatch(status)
	if found == nil {
		b.Fatalf("no %s in\n%s", field, status)
	}
	kib, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil {
		b.Fatal(err)
	}
	return kib / 1024
}
