package workloads

import (
	"context"
	"slices"
	"time"
)

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
