package workloads

import (
	"context"
	"time"

	"github.com/stampede-bench/stampede/metrics"
)

// warmSlices is the number of slices of the plan's warm-up.
const warmSlices = 2

// warmUp drives the clients for the plan's warm-up, and then until throughput is steady or the
// plan's limit is reached. Its measurements are discarded.
func (r *runner) warmUp(ctx context.Context) (w metrics.Warmup) {
	began := time.Now()
	defer func() { w.Took = time.Since(began) }()
	if r.plan.Warmup <= 0 || r.plan.WarmupLimit <= r.plan.Warmup || r.plan.Open.Rate.Open() || r.plan.Background.Clients > 0 {
		r.wait(ctx, r.plan.Warmup)
		return w
	}
	slice := r.plan.Warmup / warmSlices
	if r.plan.Cold {
		slice = max(slice, coldSlice)
	}
	for done := r.all.Load(); time.Since(began)+slice <= r.plan.WarmupLimit && ctx.Err() == nil && !r.stopping.Load(); {
		from := time.Now()
		r.wait(ctx, slice)
		now := r.all.Load()
		if w.Add(float64(now-done)/time.Since(from).Seconds()) && time.Since(began) >= r.plan.Warmup {
			return w
		}
		done = now
	}
	return w
}

// coldSlice is the length of a slice on a server that has done no work yet: long enough to see
// throughput rise slowly while a just-in-time compiler works.
const coldSlice = 500 * time.Millisecond
