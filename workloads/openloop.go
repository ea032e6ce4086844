package workloads

import (
	"context"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads/openloop"
)

// openLoop gives the slots their arrivals if the plan has an arrival rate.
func (r *runner) openLoop(ctx context.Context) {
	p := r.plan
	if !p.Open.Rate.Open() {
		return
	}
	if p.Part == nil {
		r.pacer = openloop.New(p.Open, p.Warmup, p.Duration, p.Seed)
	} else {
		mine, share := r.pool.arrivalsHere(p.Open.Arrival, p.Seed)
		r.opens = r.agreeWindow(ctx)
		r.pacer = openloop.NewPart(p.Open, openloop.Part{Opens: r.opens, Mine: mine, Share: share}, p.Warmup, p.Duration, p.Seed)
	}
	for _, s := range r.pool.Slots {
		s.pacer, s.ticket = r.pacer, r.pacer.Ticket()
	}
}

// fillOpenLoop fills in the current state of the open loop, if the run has one.
func (r *runner) fillOpenLoop(g *metrics.Generator) {
	if r.pacer == nil {
		return
	}
	s := r.pacer.Progress()
	arrivals(g, s.Counts)
	g.Waiting, g.Behind = s.Waiting, s.Lag
}

func arrivals(g *metrics.Generator, c openloop.Counts) {
	g.Offered, g.Late, g.Completed, g.Failed, g.Skipped, g.Unfinished = c.Offered, c.Late, c.Completed, c.Failed, c.Skipped, c.Unfinished
}

// drain waits for the clients that have work that was due in the window, so that its response
// times count.
func (r *runner) drain(record *metrics.Record) {
	if r.pacer == nil {
		return
	}
	r.pacer.End()
	ctx, cancel := context.WithTimeout(r.rounds, endTime)
	defer cancel()
	if !r.failed() {
		r.pacer.Drain(ctx)
	}
	arrivals(&record.Generator, r.pacer.Counts())
	record.Generator.Oldest, record.Generator.Wakes = r.pacer.Oldest(), r.pacer.Wakes()
}
