package main

import (
	"context"

	"github.com/stampede-bench/stampede/metrics/export"
	"github.com/stampede-bench/stampede/metrics/observe"
)

// followTraffic exports the observation as metrics, if flags or the environment ask for that, until
// the returned function is called. missed returns the bytes that were not analysed.
func (a *app) followTraffic(ctx context.Context, f observeFlags, seen *observe.Analysis, scheme string, missed func() int64) (stop func(), err error) {
	to, err := a.expose(ctx, f.metrics, export.Observed(scheme, seen, missed))
	if err != nil {
		return nil, err
	}
	return func() { to.stop(ctx) }, nil
}
