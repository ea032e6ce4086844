package main

import (
	"context"
	"time"

	"github.com/stampede-bench/stampede/workloads"
)

// waitAtGate makes a run wait until the window of the other side of a duet can open too, and
// returns the observer that reports when it opened. The window is not extended if few rounds end: the
// other side would not be measured in those seconds.
func (a *app) waitAtGate(p *workloads.Plan) observer {
	p.LeastRounds = 0
	p.AwaitWindow = func(ctx context.Context) {
		if a.window.Await(ctx) != nil {
			a.interrupt()
		}
	}
	return observer{begin: func(observedRun, *workloads.Live) { a.window.Opened(time.Now()) }}
}
