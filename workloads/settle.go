package workloads

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

// Settled is what one settled run of a form cost.
type Settled struct {
	Rounds  int64 // of the recipe
	Counts  metrics.Counts
	Largest int64 // largest fan-out of one write
	// Server is the server's own account of the same, pings, fences and syncs
	// taken out, or nil where it keeps none.
	Server *drivers.Counters
	Safety metrics.Safety
	Story  []Step
}

// Settle plays one settled run: the clients' steps one at a time, everything
// at rest between any two. What it counts depends on nothing but the form.
func Settle(ctx context.Context, service drivers.Service, form Form, clients int, s Settings) (_ Settled, err error) {
	w := form.New(s)
	c := &crew{service: service, form: form, instances: instances{w}, meter: metrics.NewMeter(), place: s.namespace()}
	tellers := make([]*teller, sessions(w, clients))
	var steps sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		cancel() // whoever still waits, after an error, waits no longer
		if e := c.dismiss(); err == nil {
			err = e
		}
		steps.Wait()
	}()
	if err := c.prepare(ctx, clients); err != nil {
		return Settled{}, err
	}
	if err := c.seat(ctx, clients, func(i int, p drivers.Probe) drivers.Probe {
		tellers[i] = &teller{next: p}
		return tellers[i]
	}); err != nil {
		return Settled{}, err
	}
	st := newStage(c, tellers, &steps)
	if err := st.Rest(ctx); err != nil {
		return Settled{}, err
	}
	return st.play(ctx, w)
}

// play measures around the workload's own script.
func (st *Stage) play(ctx context.Context, w Workload) (Settled, error) {
	meter := st.crew.meter
	witness, before, err := st.crew.swearIn(ctx)
	if err != nil {
		return Settled{}, err
	}
	meter.Begin()
	for _, t := range st.tellers {
		t.tell()
	}
	if err := w.Settle(ctx, st); err != nil {
		return Settled{}, err
	}
	meter.End()
	var timed metrics.Record
	w.End(&timed)
	done := Settled{Rounds: timed.Rounds, Counts: meter.Counts().Sub(before), Largest: meter.Herd().Largest, Safety: w.Verdict(), Story: st.story}
	if witness != nil {
		done.Server, err = st.crew.testimony(ctx, witness, before)
	}
	return done, err
}

// A Stage is where a workload's script moves the clients of a settled run.
type Stage struct {
	Seats []*Seat

	crew    *crew
	tellers []*teller
	story   []Step
	owners  map[string]int // of nodes with a sequential name, by path

	steps *sync.WaitGroup // those that have begun and not ended

	mu     sync.Mutex
	acts   []*act // that have not been told to their end
	moves  uint64 // steps begun and ended
	failed error
}

// An act is a step that has begun. A client may be about several: it follows
// something and changes it.
type act struct {
	client int
	spot   *drivers.Spot
	ended  bool
	ends   string // what to say when it has
	told   bool   // that it goes to sleep
	moves  uint64 // of the spot, when that was told
}

func newStage(c *crew, tellers []*teller, steps *sync.WaitGroup) *Stage {
	return &Stage{steps: steps, Seats: c.seats, crew: c, tellers: tellers, owners: make(map[string]int)}
}

// Do begins a step of one client: what it sets out to do ("arrives"), what has
// come of it when it ends ("holds", or nothing worth saying), and the step
// itself, whose context parks on a spot of its own.
func (st *Stage) Do(ctx context.Context, client int, sets, ends string, step func(context.Context) error) {
	st.story = append(st.story, Step{Client: client, Title: sets})
	a := &act{client: client, spot: &drivers.Spot{Ticks: true}, ends: ends}
	st.begin(a)
	st.steps.Go(func() { st.end(a, step(drivers.WithSpot(ctx, a.spot))) })
}

func (st *Stage) begin(a *act) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.acts = append(st.acts, a)
	st.moves++
}

func (st *Stage) end(a *act, err error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	a.ended = true
	st.moves++
	if err != nil && st.failed == nil {
		st.failed = fmt.Errorf("client %d: %w", a.client+1, err)
	}
}

// Tick lets each client that polls look once, and tells whether any does.
func (st *Stage) Tick() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	any := false
	for _, a := range st.acts {
		any = a.spot.Tick() || any
	}
	return any
}

// restTime is how long things may take to come to rest: on a backend that
// answers, milliseconds.
const restTime = 30 * time.Second

// restPoll is how long to wait between two looks at who is still moving.
const restPoll = 50 * time.Microsecond

// Rest returns when everything has come to rest, which it proves: every client
// is parked or has nothing to do; then each session is fenced, so that every
// notification on its way has arrived; and in all that nothing moved.
func (st *Stage) Rest(ctx context.Context) error {
	deadline := time.Now().Add(restTime)
	for {
		before := st.look()
		if before.awake < 0 {
			if err := st.crew.fence(ctx); err != nil {
				return err
			}
			if st.look() == before {
				st.tellStep()
				return st.failed
			}
			continue
		}
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("not at rest after %v: client %d is still busy", restTime, before.awake+1)
		}
		time.Sleep(restPoll)
	}
}

// A look is all that changes when anything happens. Two equal looks say that
// nothing did.
type look struct {
	awake  int // a client that is neither idle nor parked, or −1
	moves  uint64
	counts metrics.Counts
}

func (st *Stage) look() look {
	st.mu.Lock()
	defer st.mu.Unlock()
	l := look{awake: -1, moves: st.moves, counts: st.crew.meter.Counts()}
	// Heartbeats come when they come, and fences are our own.
	l.counts.Pings, l.counts.Fences, l.counts.BytesIn, l.counts.BytesOut = 0, 0, 0, 0
	for _, a := range st.acts {
		parked, moves := a.spot.Parked()
		l.moves += moves
		if !a.ended && !parked && !st.parkedUnseen(a.client) {
			l.awake = a.client
		}
	}
	return l
}

// parkedUnseen tells of a library form, which does not wait where we can see
// it, whether it waits: its last answer armed a watch, and that has not fired.
func (st *Stage) parkedUnseen(client int) bool {
	return st.crew.form.Family == Library && st.Seats[client].Marks.Quiet()
}
