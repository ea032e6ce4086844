package workloads

import (
	"context"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads/openloop"
)

// planWindow returns when the warm-up of an open loop ends, and decides the window if it opens then and its
// length is known. All processes of a run have the same window.
func (r *runner) planWindow(ctx context.Context) (opens time.Time) {
	p := r.plan
	opens = time.Now().Add(p.Warmup)
	if !p.Open.Rate.Open() {
		return opens
	}
	opens = r.agreeWindow(ctx, func() time.Time { return time.Now().Add(p.Warmup) })
	r.window.Open(opens)
	if p.Rounds == 0 {
		r.window.Close(opens.Add(p.Duration))
	}
	return opens
}

// openLoop gives the slots their arrivals if the plan has an arrival rate. The warm-up ends at the given
// time.
func (r *runner) openLoop(warm time.Time) {
	p := r.plan
	if !p.Open.Rate.Open() {
		return
	}
	own := openloop.OwnArrivals{Origin: warm}
	own.Mine, own.Share = r.pool.arrivalsHere(p.Open.Arrival, p.Seed)
	r.pacer = openloop.New(p.Open, r.window, own, p.Warmup, p.Duration, p.Seed)
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

// drain waits until all work that was due in the window is done, so that its response times count. Work that
// has not begun by the end time, or when the run is interrupted, is skipped.
func (r *runner) drain(ctx context.Context, record *metrics.Record) {
	if r.pacer == nil {
		return
	}
	limited, cancel := context.WithTimeout(r.rounds, endTime)
	defer cancel()
	defer context.AfterFunc(ctx, r.pacer.End)()
	if !r.failed() {
		r.pacer.Drain(limited)
		if r.pool.instances[0].Together() {
			r.drainTogether(limited)
		}
	}
	r.pacer.End()
	r.countArrivals(&record.Generator)
}

// drainTogether waits until all processes have drained: until then their rounds need the clients of this one.
func (r *runner) drainTogether(ctx context.Context) {
	x := r.part.Exchange.Instance(noInstance)
	x.Announce(drainedTopic, 0)
	_ = x.Await(ctx, drainedTopic, 0, x.Processes) // without an answer in time the run ends
}

// countArrivals fills in the outcomes of the arrivals of an open loop.
func (r *runner) countArrivals(g *metrics.Generator) {
	if r.pacer == nil {
		return
	}
	arrivals(g, r.pacer.Counts())
	g.Oldest, g.Wakes = r.pacer.Oldest(), r.pacer.Wakes()
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
		}, 1 / float64(c.part.Processes)
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

// When a client of a recipe arrives it lists the clients already there and watches one of them.
// The total work of the arrivals therefore grows as the square of their number. If all clients
// arrived at the same time, the heartbeats of all sessions would queue behind that work.
const (
	// eachOther is the part of the ramp that each client takes for each client of its instance.
	eachOther = 100 * time.Nanosecond
	// leastRamp is the shortest ramp: clients that would need less arrive all at the same time.
	leastRamp = 5 * time.Millisecond
	// arrivingAtOnce is how many clients may be arriving at a time.
	arrivingAtOnce = 8
	// arrivalTime is how long gather waits for one client to arrive.
	arrivalTime = time.Second
	// arrivalEvery is how often gather checks whether clients have arrived.
	arrivalEvery = time.Millisecond
)

// ramp returns the least time that the clients take to arrive one after the other: the plan's, or
// one that depends on their number. Clients of an open loop arrive immediately, since their work
// comes at its rate. Raw operations have no default ramp, since their clients do not wait for each
// other.
func (p Plan) ramp() time.Duration {
	switch {
	case p.Open.Rate.Open():
		return 0
	case p.Ramp > 0 || p.Form.Family == Load:
		return p.Ramp
	}
	groups := max(p.Groups, 1)
	each := time.Duration(p.Clients / groups)
	if d := each * each * time.Duration(groups) * eachOther; d >= leastRamp {
		return d
	}
	return 0
}

// arrive waits until the slot may arrive, and reports whether it takes turns at all.
func (r *runner) arrive(s *Slot) bool {
	if s.mayArrive == nil {
		return true
	}
	select {
	case <-s.mayArrive:
		return true
	case <-r.stop:
		return r.pool.instances[s.instance].Together() // other clients may be in a round with it
	case <-r.rounds.Done():
		return false
	}
}

// holdArrivals makes the slots wait until gather lets them arrive.
func (r *runner) holdArrivals() {
	if r.plan.ramp() == 0 {
		return
	}
	r.gathered = make(chan struct{})
	for _, s := range r.pool.Slots {
		s.mayArrive, s.gathered = make(chan struct{}), r.gathered
	}
}

// gather lets the clients arrive one after the other, a few at a time. It returns when all of them
// wait for something or the run ends, with the time that it took; 0 without a ramp.
func (r *runner) gather(ctx context.Context) (took time.Duration) {
	ramp, slots, began := r.plan.ramp(), r.pool.Slots, time.Now()
	if ramp == 0 {
		return 0
	}
	defer func() { took = time.Since(began) }()
	defer close(r.gathered)
	var coming arriving
	for i := 0; i < len(slots) || len(coming) > 0; {
		if ctx.Err() != nil || r.stopping.Load() {
			break
		}
		due := ramp * time.Duration(i) / time.Duration(len(slots))
		if i < len(slots) && len(coming) < arrivingAtOnce && time.Since(began) >= due {
			close(slots[i].mayArrive)
			if r.plan.Form.Family != Load { // clients of a load do not wait for anything
				coming = append(coming, &arrival{slot: slots[i], since: time.Now()})
			}
			i++
			continue
		}
		r.wait(ctx, arrivalEvery)
		coming = coming.look(time.Now())
	}
	return took
}

// An arrival is a client that is arriving: it does not yet wait for anything.
type arrival struct {
	slot  *Slot
	since time.Time
	waits bool // it waited when look last checked it
}

type arriving []*arrival

// look returns the clients that are still arriving. A client has arrived when all its requests
// have been answered at two checks in a row.
func (all arriving) look(now time.Time) arriving {
	return slices.DeleteFunc(all, func(a *arrival) bool {
		before := a.waits
		a.waits = a.slot.Marks.Waits()
		return a.waits && before || now.Sub(a.since) > arrivalTime
	})
}
