package proxy

import (
	"io"
	"net"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/server"
)

// BenchmarkGet gets one node through a proxy and without one, in alternation: alone, which shows
// what the proxy adds to a get, and with 64 gets in flight, which shows the processor time that
// it adds to a request and its reply.
func BenchmarkGet(b *testing.B) {
	address := backendtest.Native(b, server.Options{})
	p := in(b, address, Options{Observer: new(quiet)})
	through, direct := connect(b, p.Addresses()[0], nil), connect(b, address, nil)
	for name, inFlight := range map[string]int{"alone": 1, "64 in flight": 64} {
		b.Run(name, func(b *testing.B) {
			var wall, cpu [2]time.Duration
			n := 0
			for b.Loop() {
				for i, c := range []drivers.Conn{direct, through} {
					w, u := gets(b, c, inFlight)
					wall[i] += w
					cpu[i] += u
				}
				n += perTurn
			}
			each := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 / float64(n) }
			b.ReportMetric(each(wall[0]), "direct-µs/get")
			b.ReportMetric(each(wall[1]-wall[0]), "added-µs/get")
			b.ReportMetric(each(cpu[1]-cpu[0]), "added-cpu-µs/get")
			b.ReportMetric(0, "ns/op")
		})
	}
	if d := p.Stats().Dropped; d > 0 {
		b.Logf("the analysis was late: %d bytes were dropped", d)
	}
}

// BenchmarkAllocations counts what the proxy allocates for a get and its reply, without what client
// and server allocate.
func BenchmarkAllocations(b *testing.B) {
	p := in(b, serving(b, func(c *net.TCPConn) { io.Copy(c, c) }), Options{Observer: quiet{}})
	c := dial(b, p)
	message := make([]byte, 64)
	b.ReportAllocs()
	for b.Loop() {
		c.Write(message)
		if _, err := io.ReadFull(c, message); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMemory opens sessions through the proxy, and reports how much memory the proxy takes for
// each. The server answers from this process, and takes what it takes without a proxy.
func BenchmarkMemory(b *testing.B) {
	const n = 1000
	address := backendtest.Native(b, server.Options{})
	p := in(b, address, Options{Observer: new(quiet)})
	for b.Loop() {
		direct, through := sessionBytes(b, address, n), sessionBytes(b, p.Addresses()[0], n)
		b.ReportMetric(float64(through-direct)/n, "B/connection")
	}
	b.ReportMetric(0, "ns/op")
}

// sessionBytes returns how much the memory in use grows by opening sessions that make a call.
func sessionBytes(b *testing.B, address string, n int) int64 {
	before := inUse()
	for range n {
		c := connect(b, address, nil)
		if _, _, err := c.Exists(b.Context(), "/", nil); err != nil {
			b.Fatal(err)
		}
	}
	return inUse() - before
}

func inUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// perTurn is the number of gets of one turn of a side.
const perTurn = 2048

// gets makes the gets of one turn.
func gets(b *testing.B, c drivers.Conn, inFlight int) (wall, cpu time.Duration) {
	pipeline := c.(drivers.Pipeliner)
	get := drivers.Call{Op: drivers.OpGet, Path: "/"}
	pending := make([]drivers.Pending, inFlight)
	start, used := time.Now(), processorTime()
	for range perTurn / inFlight {
		for i := range pending {
			pending[i] = pipeline.Begin(b.Context(), get)
		}
		for i := range pending {
			if a := pending[i].Await(b.Context()); a.Err != nil {
				b.Fatal(a.Err)
			}
		}
	}
	return time.Since(start), processorTime() - used
}

func processorTime() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
