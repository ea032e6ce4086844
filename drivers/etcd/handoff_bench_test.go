package etcd

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/etcd/library"
	"github.com/stampede-bench/stampede/drivers/protected"
)

// BenchmarkHandOff measures the time from one holder of a lock to the next, held for no time,
// over a member that syncs: for the calls of the herd-avoiding recipe, and for the library.
func BenchmarkHandOff(b *testing.B) {
	p, err := started(b.Context(), 1, Fsync)
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	s := service(b, Config{Endpoints: p.Addresses()})
	for _, clients := range []int{2, 32, 128} {
		b.Run(fmt.Sprintf("line-%d", clients), func(b *testing.B) {
			handOff(b, s, clients, func(c *Conn, dir string) handing {
				return line{c, dir, protected.NewPlaceWithNeighbors(c, dir, "lock-")}
			})
		})
		b.Run(fmt.Sprintf("library-%d", clients), func(b *testing.B) {
			handOff(b, s, clients, func(c *Conn, dir string) handing { return c.LibraryForm("lock", dir, 0).(*library.Lock) })
		})
	}
}

// A handing is a lock, ours or the library's.
type handing interface {
	Acquire(ctx context.Context) (context.Context, error)
	Release(ctx context.Context) error
}

// A line is a lock in which each client watches the one directly ahead.
type line struct {
	conn  *Conn
	dir   string
	place *protected.Claim
}

func (l line) Acquire(ctx context.Context) (context.Context, error) {
	if err := l.place.Create(ctx); err != nil {
		return nil, err
	}
	for {
		all, err := l.place.Neighbors(ctx)
		if err != nil {
			return nil, err
		}
		ahead, err := l.place.Ahead(all)
		if err != nil || ahead == "" {
			return ctx, err
		}
		var gone drivers.Wait
		_, exists, err := l.conn.Exists(ctx, l.dir+"/"+ahead, gone.Fire)
		if err == nil && exists {
			_, err = gone.Await(ctx)
		}
		if err != nil {
			return nil, err
		}
	}
}

func (l line) Release(ctx context.Context) error { return l.place.Remove(ctx) }

func handOff(b *testing.B, s *Service, clients int, lock func(c *Conn, dir string) handing) {
	all := make([]handing, clients)
	dir := ""
	for i := range all {
		c := dial(b, s, drivers.Options{})
		if i == 0 {
			dir = fmt.Sprintf("/lock-%x", c.lease.id)
			create(b, c, dir, 0)
		}
		all[i] = lock(c, dir)
	}
	var left atomic.Int64
	left.Store(int64(b.N))
	var wg sync.WaitGroup
	b.ResetTimer()
	for _, l := range all {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				_, err := l.Acquire(b.Context())
				if err == nil {
					err = l.Release(b.Context())
				}
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "handoffs/s")
}
