package workloads

import (
	"context"
	"time"

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
		opens := time.Now().Add(p.Warmup) // of a background, which has no window of its own
		if p.Part.Window != nil {
			r.opens = r.agreeWindow(ctx)
			opens = r.opens
		}
		r.pacer = openloop.NewPart(p.Open, openloop.Part{Opens: opens, Mine: mine, Share: share}, p.Warmup, p.Duration, p.Seed)
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

// A taker is a workload in which one client takes each arrival on behalf of all, if the loop is open.
type taker interface {
	// Taker returns the slot of the client that takes the n-th arrival of an instance, from 0.
	Taker(n int64) int
}

// takers is a workload in which only some clients take arrivals.
type takers interface{ TakesArrivals(index int) bool }

// arrivalsHere returns a function that tells for each arrival of the run, in order, whether a client of this
// process takes it, and the share of all arrivals that this process has.
func (c *Pool) arrivalsHere(arrival openloop.Arrival, seed uint64) (mine func() bool, share float64) {
	here := map[[2]int]bool{} // by instance and index
	for _, s := range c.Slots {
		here[[2]int{s.instance, s.Index}] = true
	}
	if _, one := c.instances[0].(taker); one {
		next, taken := openloop.Spread(arrival, seed, len(c.instances)), make([]int64, len(c.instances))
		return func() bool {
			i := next()
			taken[i]++
			return here[[2]int{i, c.instances[i].(taker).Taker(taken[i] - 1)}]
		}, 1 / float64(c.part.Of)
	}
	var all []bool // whether this process has the client, for all clients that take arrivals
	have := 0
	for i, w := range c.instances {
		some, chooses := w.(takers)
		for index := range c.clients / len(c.instances) {
			if chooses && !some.TakesArrivals(index) {
				continue
			}
			if all = append(all, here[[2]int{i, index}]); all[len(all)-1] {
				have++
			}
		}
	}
	next := openloop.Spread(arrival, seed, len(all))
	return func() bool { return all[next()] }, float64(have) / float64(len(all))
}
