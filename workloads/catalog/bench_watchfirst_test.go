package catalog_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
)

// BenchmarkWatchFirst compares the hand-off rates of lock/predecessor and of
// concurrency.Mutex with that of a bare program on etcd's client. The order of the
// three rotates. It reports the medians of the rates, and of the ratios to the bare
// program's rate in the same iteration. It also counts the bare program's unary calls
// per hand-off; these do not include the watch that each wait opens.
//
//	go test -run '^$' -bench WatchFirst -benchtime 9x ./workloads/catalog
func BenchmarkWatchFirst(b *testing.B) {
	for _, clients := range []int{2, 32, 128} {
		b.Run(fmt.Sprint(clients), func(b *testing.B) { againstBare(b, backendtest.Own(b, "etcd:"), clients) })
	}
}

func againstBare(b *testing.B, s drivers.Service, clients int) {
	names := []string{"predecessor", "bare", "concurrency"}
	rates := map[string][]float64{}
	ratios := map[string][]float64{}
	var calls []float64
	for i := 0; b.Loop(); i++ {
		rate := map[string]float64{}
		for j := range names {
			switch name := names[(i+j)%len(names)]; name {
			case "bare":
				var perHandoff float64
				rate[name], perHandoff = bareHandoffs(b, s, clients)
				calls = append(calls, perHandoff)
			default:
				rate[name] = handoffRate(b, s, name, clients)
			}
		}
		for name, r := range rate {
			rates[name] = append(rates[name], r)
			ratios[name] = append(ratios[name], r/rate["bare"])
		}
	}
	for _, name := range names {
		b.ReportMetric(median(rates[name]), name+"/s")
	}
	b.ReportMetric(median(ratios["predecessor"]), "predecessor/bare")
	b.ReportMetric(median(ratios["concurrency"]), "concurrency/bare")
	b.ReportMetric(median(calls), "bare-calls/handoff")
	b.ReportMetric(0, "ns/op")
}

// bareHandoffs returns the bare program's hand-offs per second and its unary calls per hand-off.
func bareHandoffs(b *testing.B, s drivers.Service, clients int) (rate, calls float64) {
	ctx, end := context.WithCancel(b.Context())
	defer end()
	var handoffs, sent atomic.Int64
	count := func(ctx context.Context, method string, request, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, o ...grpc.CallOption) error {
		sent.Add(1)
		return invoke(ctx, method, request, reply, cc, o...)
	}
	var all sync.WaitGroup
	prefix := fmt.Sprintf("/bare-%d/", time.Now().UnixNano())
	for range clients {
		c, err := clientv3.New(clientv3.Config{Endpoints: []string{s.(drivers.Ensemble).Members()[0].Address()},
			DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(count)}})
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		lease, err := c.Grant(ctx, 60)
		if err != nil {
			b.Fatal(err)
		}
		key := fmt.Sprintf("%s%x", prefix, lease.ID)
		all.Go(func() {
			for ctx.Err() == nil {
				if err := bareTurn(ctx, c, prefix, key, lease.ID); err != nil && ctx.Err() == nil {
					b.Error(err)
					return
				}
				handoffs.Add(1)
			}
		})
	}
	time.Sleep(200 * time.Millisecond) // the same warm-up as for the other forms
	n, m, began := handoffs.Load(), sent.Load(), time.Now()
	time.Sleep(time.Second)
	n, m = handoffs.Load()-n, sent.Load()-m
	took := time.Since(began)
	end()
	all.Wait()
	return float64(n) / took.Seconds(), float64(m) / float64(max(n, 1))
}

// bareTurn acquires and releases the lock once.
func bareTurn(ctx context.Context, c *clientv3.Client, prefix, key string, lease clientv3.LeaseID) error {
	mine, err := c.Put(ctx, key, "", clientv3.WithLease(lease))
	if err != nil {
		return err
	}
	ahead, err := c.Get(ctx, prefix, append(clientv3.WithLastCreate(), clientv3.WithMaxCreateRev(mine.Header.Revision-1), clientv3.WithKeysOnly())...)
	if err == nil && len(ahead.Kvs) > 0 {
		err = bareWait(ctx, c, string(ahead.Kvs[0].Key), ahead.Kvs[0].CreateRevision)
	}
	if err == nil {
		_, err = c.Delete(ctx, key)
	}
	return err
}

// bareWait returns when the key with the given create revision is deleted. It opens
// the watch before it reads the key: so it misses no deletion, and the watch does not
// have to catch up in etcd's loop for watches that start in the past.
func bareWait(ctx context.Context, c *clientv3.Client, key string, created int64) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	events := c.Watch(ctx, key, clientv3.WithCreatedNotify(), clientv3.WithFilterPut())
	<-events
	now, err := c.Get(ctx, key, clientv3.WithKeysOnly())
	if err != nil || len(now.Kvs) == 0 || now.Kvs[0].CreateRevision != created {
		return err
	}
	<-events
	return ctx.Err()
}
