package workloads

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics/fanout"
	"github.com/stampede-bench/stampede/workloads/openloop"
)

// A Slot is one client's place in a run: its session and its state.
type Slot struct {
	Index int // from 0, among the clients of one instance of the recipe
	Conn  drivers.Conn
	Rand  *rand.Rand // the client's own generator, derived from the run's seed
	// Marks records where the client's phases begin and end. They distinguish useful from wasted
	// wake-ups.
	Marks *fanout.Session
	// Stopping is closed when no more turns begin. A client that waits for new work can stop
	// waiting then.
	Stopping <-chan struct{}

	pacer        *openloop.Pacer    // of an open loop; nil in a closed one
	ticket       *openloop.Ticket   // the slot's own
	tickets      []*openloop.Ticket // of its other streams
	Tracker      *TurnTracker       // nil where turns are not tracked
	trackers     *turnTrackers      // holds the trackers of its other streams
	number       int                // among all slots of the run, from 0
	mayArrive    chan struct{}      // closed when the client may arrive; nil if it may arrive immediately
	gathered     chan struct{}      // closed when all clients have arrived; nil if they arrive at the same time
	instance     int                // index of the recipe's instance, from 0
	name         string             // the client's name in messages
	turns        int64              // turns completed so far
	probe        drivers.Probe
	service      drivers.Service
	lags         bool // see [drivers.Info.Lags]
	disturbances atomic.Int64
	faults       *clientFaults // nil in a run without faults
}

// Arrive waits until the client has work: in a closed loop until it has paused for think, in an
// open loop until its next arrival is due. It returns the time from which the response time
// counts. When no more turns begin it returns the current time and false.
func (s *Slot) Arrive(ctx context.Context, think time.Duration) (due time.Time, ok bool) {
	if s.ticket != nil {
		return s.AwaitArrival(ctx, s.ticket)
	}
	if think <= 0 {
		return time.Now(), true
	}
	s.Tracker.rest()
	Sleep(ctx, think)
	due = time.Now() // the timer's lateness is not the service's
	s.Tracker.due(due)
	return due, true
}

// StartOf returns when the client starts work that was due: immediately, except for an arrival,
// which may have had to wait until the client was free.
func (s *Slot) StartOf(due time.Time) time.Time {
	if s.ticket == nil {
		return due
	}
	return time.Now()
}

// ArrivalFailed records that the client's arrival, if it has one, failed: its turn ends without completing
// it.
func (s *Slot) ArrivalFailed() {
	if s.ticket != nil {
		s.ticket.Fail()
	}
}

// arrivalCompleted completes the client's arrival, if it has one.
func (s *Slot) arrivalCompleted() {
	if s.ticket != nil {
		s.ticket.Finish()
	}
}

// AwaitArrival is Arrive with a ticket other than the slot's own.
func (s *Slot) AwaitArrival(ctx context.Context, t *openloop.Ticket) (due time.Time, ok bool) {
	return s.awaitArrivalTold(ctx, t, func(time.Duration) {})
}

// awaitArrivalTold is AwaitArrival, and calls taken as [openloop.Ticket.NextTold] does.
func (s *Slot) awaitArrivalTold(ctx context.Context, t *openloop.Ticket, taken func(due time.Duration)) (due time.Time, ok bool) {
	if due, ok = t.NextTold(ctx, taken); ok {
		return due, true
	}
	select {
	case <-s.Stopping:
	case <-ctx.Done():
	}
	return time.Now(), false
}

// onState is the callback drivers.Options.OnState of the slot's session.
func (s *Slot) onState(state drivers.State) {
	if state != drivers.Connected {
		s.disturbances.Add(1)
	}
	s.faults.state(state)
}

// Number returns the client's number in messages, from 1, among the clients of one instance.
func (s *Slot) Number() int { return s.Index + 1 }

// Disturbances returns how often the slot's session was disconnected or lost.
func (s *Slot) Disturbances() int64 { return s.disturbances.Load() }

// TurnsTaken returns how many turns the client has completed, in all its sessions.
func (s *Slot) TurnsTaken() int64 { return s.turns }

// OpenLoop reports whether the client's work comes from arrivals.
func (s *Slot) OpenLoop() bool { return s.pacer != nil }

// NewArrival returns a ticket for another series of arrivals, nil in a closed loop.
func (s *Slot) NewArrival() *openloop.Ticket {
	if s.pacer == nil {
		return nil
	}
	return s.pacer.Ticket()
}

// HasFaults reports whether faults are injected into the run.
func (s *Slot) HasFaults() bool { return s.faults != nil }

// Served records, in a run with faults, that the client got what its turn is for.
func (s *Slot) Served(now time.Time) { s.faults.served(now) }

// Untracked stops tracking the client's turns: it only waits.
func (s *Slot) Untracked() { s.Tracker = nil }

// Open opens a new session for the slot.
func (s *Slot) Open(ctx context.Context) error {
	conn, err := s.service.Dial(ctx, s.faults.options(drivers.Options{OnState: s.onState, Probe: s.probe}))
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	s.Conn = conn
	s.faults.opened(conn)
	return nil
}

// Expire makes the service end the current session.
func (s *Slot) Expire(ctx context.Context) error {
	e, ok := s.service.(drivers.Expirer)
	if !ok {
		return fmt.Errorf("expire a session of %T: %w", s.service, drivers.ErrUnsupported)
	}
	return e.Expire(ctx, s.Conn)
}

// Hold waits for d within a round; a frozen client continues only when it is thawed. While clients
// still arrive, keep first waits until all have arrived, since each release may wake all clients
// that are already there.
func (s *Slot) Hold(ctx context.Context, d time.Duration) {
	if s.gathered != nil {
		select {
		case <-s.gathered:
		case <-s.Stopping:
		case <-ctx.Done():
		}
	}
	Sleep(ctx, d)
	s.faults.waitWhileFrozen()
}

// Sleep waits for d, or until ctx ends.
func Sleep(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
