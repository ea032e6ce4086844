package main

import (
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
)

const (
	// warmUpRuns bounds the warm-up to this many times --warmup while throughput is not steady.
	warmUpRuns = 5
	// coldLimit is the same bound for the first run on a server that the command has just started.
	coldLimit = 15 * time.Second
)

// warm sets how long a run may warm up until its throughput is steady. The first run on a server
// that has just been started may take longer, except on the native server, which is compiled ahead
// of time and has less to warm up.
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
