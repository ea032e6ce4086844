package main

import (
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
)

const (
	// warmUpRuns is how many times --warmup a warm-up may last until throughput is steady.
	warmUpRuns = 5
	// coldLimit is the same of the first run on a server that the command has just started.
	coldLimit = 15 * time.Second
)

// warm lets a run warm up until it is steady, and the first one on a server that has just
// been started for longer. The native server is compiled ahead, so it has less to warm.
func (a *app) warm(p *workloads.Plan) {
	i := p.Service.Info()
	p.WarmupLimit = warmUpRuns * p.Warmup
	if p.Cold = !a.used[p.Service] && i.Started != "" && i.Name != "native"; p.Cold && p.Warmup > 0 {
		p.WarmupLimit = max(p.WarmupLimit, coldLimit)
	}
	if a.used == nil {
		a.used = make(map[drivers.Service]bool)
	}
	a.used[p.Service] = true
}
