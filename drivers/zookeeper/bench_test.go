package zookeeper

import (
	"context"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/stampede-bench/stampede/drivers"
)

// counter is a minimal probe.
type counter struct{ replies int }

func (c *counter) Message(m drivers.Message) {
	if m.Kind == drivers.Reply {
		c.replies++
	}
}

// BenchmarkGetAdded measures a read through the library alone, and through this package with its tap and a probe. It
// interleaves the two, alternating which comes first, and reports the medians and their difference. It runs on a standalone
// server, where a read varies by far more than that difference, and on a minimal server, also over the loopback interface.
// A call whose context cannot end needs no goroutine; the bare library has no contexts.
func BenchmarkGetAdded(b *testing.B) {
	b.Run("zookeeper", func(b *testing.B) { benchmarkAdded(b, b.Context(), onLocal(b).address) })
	b.Run("zookeeper-for-ever", func(b *testing.B) { benchmarkAdded(b, context.Background(), onLocal(b).address) })
	b.Run("least", func(b *testing.B) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		defer l.Close()
		go new(memory).listen(l)
		benchmarkAdded(b, b.Context(), l.Addr().String())
	})
}

func benchmarkAdded(b *testing.B, ctx context.Context, address string) {
	bare, ours := getters(b, ctx, address)
	gets := []func() error{bare, ours}
	var took [2][]time.Duration
	for turn := 0; b.Loop(); turn++ {
		for n := range gets {
			i := (turn + n) % len(gets)
			start := time.Now()
			if err := gets[i](); err != nil {
				b.Fatal(err)
			}
			took[i] = append(took[i], time.Since(start))
		}
	}
	b.ReportMetric(float64(median(took[0])), "bare-ns/op")
	b.ReportMetric(float64(median(took[1])), "drivers-ns/op")
	b.ReportMetric(float64(median(took[1])-median(took[0])), "added-ns/op")
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// getters return functions that read the root, each on a session of its own.
func getters(b *testing.B, ctx context.Context, address string) (bare, ours func() error) {
	s := serviceOf(b, Config{Servers: []string{address}})
	c, err := s.Dial(b.Context(), drivers.Options{Probe: new(counter)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	library, _, err := zk.Connect([]string{address}, drivers.DefaultSessionTimeout, zk.WithLogInfo(false))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(library.Close)
	bare = func() error {
		_, _, err := library.Get("/")
		return err
	}
	ours = func() error {
		_, _, err := c.Get(ctx, "/", nil)
		return err
	}
	return bare, ours
}
