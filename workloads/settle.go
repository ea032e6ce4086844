package workloads

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

// Settled is the cost of one settled run of a form.
type Settled struct {
	Rounds  int64 // of the recipe
	Counts  metrics.Counts
	Largest int64 // largest fan-out of one write
	// Server is the server's own count of the same run, without pings, fences and syncs; nil where
	// the server keeps none.
	Server *drivers.Counters
	Safety metrics.Safety
	Story  []Step
}

// Settle performs one settled run: the clients take steps one at a time, and the whole system is
// at rest between any two. The counts depend on the form, the number of clients and the settings,
// and not on timing.
func Settle(ctx context.Context, service drivers.Service, form Form, clients int, s Settings) (_ Settled, err error) {
	w := form.New(s)
	c := &crew{service: service, form: form, instances: instances{w}, meter: metrics.NewMeter(), place: s.namespace()}
	tellers := make([]*teller, sessions(w, clients))
	var steps sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		cancel() // after an error, release the clients that still wait
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

// play measures the workload's own script.
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
	owners  map[string]int // creators of the nodes with a sequential name, by path

	steps *sync.WaitGroup // steps that have begun and not ended

	mu     sync.Mutex
	acts   []*act // acts whose end has not been reported in the story
	moves  uint64 // counts the begins and ends of steps
	failed error
}

// An act is a step that has begun. A client may have several: it may follow a node and change it.
type act struct {
	client int
	spot   *drivers.Spot
	ended  bool
	ends   string // what the story says when the act has ended
	told   bool   // the story has said that it sleeps
	moves  uint64 // the spot's moves when the story said so
}

func newStage(c *crew, tellers []*teller, steps *sync.WaitGroup) *Stage {
	return &Stage{steps: steps, Seats: c.seats, crew: c, tellers: tellers, owners: make(map[string]int)}
}

// Do begins a step of one client. sets describes what the client begins to do ("arrives"), and
// ends the outcome when the step has ended ("holds"), or "" for none. The context of step parks on
// a spot of its own.
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

// Tick makes each client that polls look once, and reports whether any client does.
func (st *Stage) Tick() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	any := false
	for _, a := range st.acts {
		any = a.spot.Tick() || any
	}
	return any
}

// restTime bounds the wait for rest, which takes milliseconds on a service that answers.
const restTime = 30 * time.Second

// restPoll is how long Rest waits before it checks again whether a client still moves.
const restPoll = 50 * time.Microsecond

// Rest returns when everything is at rest, and proves it: every client is parked or idle, then
// each session is fenced, so that all notifications in transit have arrived, and nothing moved in
// the meantime.
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

// A look is everything that changes when something happens. If two looks are equal, nothing
// happened between them.
type look struct {
	awake  int // a client that is neither idle nor parked; −1 if there is none
	moves  uint64
	counts metrics.Counts
}

func (st *Stage) look() look {
	st.mu.Lock()
	defer st.mu.Unlock()
	l := look{awake: -1, moves: st.moves, counts: st.crew.meter.Counts()}
	// Heartbeats come at any time, and the fences are the stage's own.
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

// parkedUnseen reports whether a client of a library form waits. Such a client does not park on a
// spot, but it waits if its last reply armed a watch that has not fired.
func (st *Stage) parkedUnseen(client int) bool {
	return st.crew.form.Family == Library && st.Seats[client].Marks.Quiet()
}
