package zookeeper

import (
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/stampede-bench/stampede/drivers"
)

// counter is the least that a probe can do.
type counter struct{ replies int }

func (c *counter) Message(m drivers.Message) {
	if m.Kind == drivers.Reply {
		c.replies++
	}
}

// BenchmarkGet is what a read costs through the library alone, and through this
// package with its tap and a probe, on the same server.
func BenchmarkGet(b *testing.B) {
	bare, ours := getters(b)
	for _, bc := range []struct {
		name string
		get  func() error
	}{{"bare", bare}, {"drivers", ours}} {
		b.Run(bc.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := bc.get(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkGetAdded makes the two reads by turns, since what a server takes for
// one varies by more than what is to be seen, and reports the difference of the
// medians.
func BenchmarkGetAdded(b *testing.B) {
	bare, ours := getters(b)
	var took [2][]time.Duration
	for b.Loop() {
		for i, get := range []func() error{bare, ours} {
			start := time.Now()
			if err := get(); err != nil {
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

// getters read the same node.
func getters(b *testing.B) (bare, ours func() error) {
	f := onLocal(b)
	c := f.dial(b, drivers.Options{Probe: new(counter)})
	path := f.create(b, c, "node", 0)
	library, _, err := zk.Connect([]string{f.address}, drivers.DefaultSessionTimeout, zk.WithLogInfo(false))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(library.Close)
	bare = func() error {
		_, _, err := library.Get(path)
		return err
	}
	ours = func() error {
		_, _, err := c.Get(f.ctx, path, nil)
		return err
	}
	return bare, ours
}
