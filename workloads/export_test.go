package workloads

import (
	"context"
	"time"

	"github.com/stampede-bench/stampede/metrics"
)

// RunAfter executes the plan of a closed loop, as Run does, but calls await after the warm-up, while the clients go on.
// The window opens when it returns.
func RunAfter(ctx context.Context, p Plan, await func(context.Context)) (*metrics.Record, error) {
	s, err := NewSite(p)
	if err != nil {
		return nil, err
	}
	opens := s.pool.part.Window
	s.pool.part.Window = func(ctx context.Context, due func() time.Time) (time.Time, error) {
		await(ctx)
		return opens(ctx, due)
	}
	return s.run(ctx)
}
