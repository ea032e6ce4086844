package workloads

import (
	"context"
	"slices"
	"time"
)

// A client of a recipe lists those that are there when it arrives, and watches one
// of them. So the work of all arrivals grows as the square of their number, and if
// all arrived at once the heartbeats of all sessions would wait behind it.
const (
	// eachOther is how much of the ramp each client has for each other one.
	eachOther = 100 * time.Nanosecond
	// leastRamp is the shortest ramp: fewer clients arrive at once.
	leastRamp = 5 * time.Millisecond
	// arrivingAtOnce is how many clients may be on their way at a time.
	arrivingAtOnce = 8
	// arrivalTime is after how long a client is not waited for any more.
	arrivalTime = time.Second
	// arrivalEvery is how often it is looked whether they have arrived.
	arrivalEvery = time.Millisecond
)

// ramp is how long the clients take to arrive, one after the other, at least: as the
// plan says, or as long as their number calls for. Clients of an open loop arrive at
// once, since their work comes at its rate. Raw operations do not wait for each other.
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

// arrive waits until the seat may arrive, and tells whether it takes turns at all.
func (r *runner) arrive(s *Seat) bool {
	if s.enter == nil {
		return true
	}
	select {
	case <-s.enter:
		return true
	case <-r.stop:
		return r.crew.instances[s.instance].Together() // others may be in a round with it
	case <-r.rounds.Done():
		return false
	}
}

// spread has the seats wait until gather lets them arrive.
func (r *runner) spread() {
	if r.plan.ramp() == 0 {
		return
	}
	r.gathered = make(chan struct{})
	for _, s := range r.crew.seats {
		s.enter, s.gathered = make(chan struct{}), r.gathered
	}
}

// gather lets the clients arrive one after the other, a few at a time, and returns
// when all wait for something, or the run ends: how long it took, 0 without a ramp.
func (r *runner) gather(ctx context.Context) (took time.Duration) {
	ramp, seats, began := r.plan.ramp(), r.crew.seats, time.Now()
	if ramp == 0 {
		return 0
	}
	defer func() { took = time.Since(began) }()
	defer close(r.gathered)
	var coming arriving
	for i := 0; i < len(seats) || len(coming) > 0; {
		if ctx.Err() != nil || r.stopping.Load() {
			break
		}
		due := ramp * time.Duration(i) / time.Duration(len(seats))
		if i < len(seats) && len(coming) < arrivingAtOnce && time.Since(began) >= due {
			close(seats[i].enter)
			if r.plan.Form.Family != Load { // whose clients wait for nothing
				coming = append(coming, &arrival{seat: seats[i], since: time.Now()})
			}
			i++
			continue
		}
		r.wait(ctx, arrivalEvery)
		coming = coming.look(time.Now())
	}
	return took
}

// An arrival is a client on its way to where it waits.
type arrival struct {
	seat  *Seat
	since time.Time
	waits bool // it did when it was looked at last
}

type arriving []*arrival

// look returns those that are still on their way. A client that waits has been
// answered all that it asked for, and is still so when it is looked at again.
func (all arriving) look(now time.Time) arriving {
	return slices.DeleteFunc(all, func(a *arrival) bool {
		before := a.waits
		a.waits = a.seat.Marks.Waits()
		return a.waits && before || now.Sub(a.since) > arrivalTime
	})
}
