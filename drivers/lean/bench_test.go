package lean_test

import (
	"context"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/lean"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
)

// BenchmarkClients measures a get and a set through each client, interleaved, on the same
// native server in a process of its own: with one call and with 256 calls in flight on one
// session. The CPU time and the allocations are the client's.
func BenchmarkClients(b *testing.B) {
	address := backendtest.Own(b, "native:").(drivers.Ensemble).Members()[0].Address()
	clients := []struct {
		name string
		conn drivers.Conn
	}{
		{lean.Client, dialThrough(b, lean.New, address)},
		{zookeeper.Client, dialThrough(b, zookeeper.New, address)},
	}
	for name, call := range map[string]func(context.Context, drivers.Conn) error{"get": get, "set": set} {
		for _, outstanding := range []int{1, 256} {
			for _, c := range clients {
				b.Run(name+"/"+c.name+"/"+map[int]string{1: "1", 256: "256"}[outstanding], func(b *testing.B) {
					measure(b, outstanding, func() error { return call(b.Context(), c.conn) })
				})
			}
		}
	}
}

func dialThrough[S drivers.Service](b *testing.B, through func(lean.Config) (S, error), address string) drivers.Conn {
	b.Helper()
	s, err := through(lean.Config{Servers: []string{address}})
	if err != nil {
		b.Fatal(err)
	}
	c, err := s.Dial(b.Context(), drivers.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	return c
}

func get(ctx context.Context, c drivers.Conn) error {
	_, _, err := c.Get(ctx, "/", nil)
	return err
}

func set(ctx context.Context, c drivers.Conn) error {
	_, err := c.Set(ctx, "/", []byte("data"), drivers.AnyVersion)
	return err
}

// measure makes b.N calls, with the given number in flight.
func measure(b *testing.B, outstanding int, call func() error) {
	b.ReportAllocs()
	var left atomic.Int64
	left.Store(int64(b.N))
	var callers sync.WaitGroup
	before := processorTime(b)
	b.ResetTimer()
	for range outstanding {
		callers.Go(func() {
			for left.Add(-1) >= 0 {
				if err := call(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	callers.Wait()
	b.StopTimer()
	b.ReportMetric(float64(processorTime(b)-before)/float64(b.N), "cpu-ns/op")
}

// processorTime returns the CPU time that this process has used.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
