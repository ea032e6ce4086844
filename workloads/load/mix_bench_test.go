package load

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/draw"
	"github.com/stampede-bench/stampede/workloads/namespace"
)

// BenchmarkMixAdded alternates between an operation of a mix and the same call without the mix, on
// sessions of one kind, and alternates which of the two is first. It reports the difference of the
// medians and of the allocations. The server runs in this process; its allocations are the same
// for both.
func BenchmarkMixAdded(b *testing.B) {
	for _, c := range []struct {
		name string
		mix  workloads.MixSettings
		bare bareCall
	}{
		{"read", workloads.MixSettings{Reads: 1}, bareGet},
		{"zipfian read", workloads.MixSettings{Reads: 1, KeysBy: draw.Zipfian}, bareGet},
		{"write", workloads.MixSettings{Size: 1000}, bareSet},
	} {
		b.Run(c.name, func(b *testing.B) {
			w, slot := joined(b, c.mix)
			client, err := w.Join(slot)
			if err != nil {
				b.Fatal(err)
			}
			key := 0
			measureAdded(b,
				func(ctx context.Context) error {
					key = (key + 1) % w.Keys
					return c.bare(ctx, slot.Conn, w.paths[key], w.value)
				},
				func(ctx context.Context) error {
					_, err := client.Turn(ctx)
					return err
				})
		})
	}
}

type bareCall func(ctx context.Context, c drivers.Conn, path string, data []byte) error

func bareGet(ctx context.Context, c drivers.Conn, path string, _ []byte) error {
	_, _, err := c.Get(ctx, path, nil)
	return err
}

func bareSet(ctx context.Context, c drivers.Conn, path string, data []byte) error {
	_, err := c.Set(ctx, path, data, drivers.AnyVersion)
	return err
}

// joined returns a mix with one client's slot, on an in-process server.
func joined(b *testing.B, m workloads.MixSettings) (*mixWorkload, *workloads.Slot) {
	service, err := backends.InProcess()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { service.Close() })
	conn, err := service.Dial(b.Context(), drivers.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close() })
	w := Mixes(workloads.Settings{Mix: m}).(*mixWorkload)
	if err := namespace.CreateNode(b.Context(), conn, "/mix", nil, 0); err != nil {
		b.Fatal(err)
	}
	w.Attach(conn, "/mix", 1)
	if err := w.Setup(b.Context(), conn); err != nil {
		b.Fatal(err)
	}
	return w, &workloads.Slot{Conn: conn, Rand: rand.New(rand.NewPCG(1, 0)), Stopping: make(chan struct{})}
}

// alike is the number of equal calls in a row. The allocations are counted between rows, since
// reading the count stops the world.
const alike = 100

func measureAdded(b *testing.B, bare, mixed func(context.Context) error) {
	calls := []func(context.Context) error{bare, mixed}
	var took [2][]time.Duration
	var allocations [2]uint64
	ctx := b.Context()
	for turn := 0; b.Loop(); turn++ {
		for n := range calls {
			i := (turn + n) % len(calls)
			before := mallocs()
			for range alike {
				start := time.Now()
				if err := calls[i](ctx); err != nil {
					b.Fatal(err)
				}
				took[i] = append(took[i], time.Since(start))
			}
			allocations[i] += mallocs() - before
		}
	}
	each := func(i int) float64 { return float64(allocations[i]) / float64(len(took[i])) }
	b.ReportMetric(0, "ns/op") // it would include many calls of both kinds
	b.ReportMetric(float64(median(took[0])), "bare-ns")
	b.ReportMetric(float64(median(took[1])-median(took[0])), "added-ns")
	b.ReportMetric(each(1)-each(0), "added-allocs")
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}
