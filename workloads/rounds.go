package workloads

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/exchange"
	"github.com/stampede-bench/stampede/workloads/namespace"
	"github.com/stampede-bench/stampede/workloads/openloop"
)

// Rounds manages the rounds of a workload that takes all clients together. Each round has a fresh path on the
// service. It is created when the first client comes to the round and removed when the last one has finished
// it, over an uncounted session of the process that has the first slot.
type Rounds struct {
	Admin      drivers.Conn
	PathPrefix string // of the rounds' paths
	Slots      int    // how many slots take part in a round
	// Create creates what a round needs on the service.
	Create func(ctx context.Context, c drivers.Conn, path string) error
	// Exchange and Steps are those of the Settings.
	Exchange *exchange.Exchange
	Steps    *check.Steps

	mu     sync.Mutex
	active map[int64]*Round // by turn
}

// A Round is the state of one round in this process.
type Round struct {
	Path string
	turn int64

	begun chan struct{} // closed when begin has returned
	err   error         // of begin

	// Times are those of the round's phases.
	Times metrics.Times

	arrival            *openloop.Ticket // holds the round's; nil in a closed loop and in other processes
	asked              bool             // a client waits until the round is due
	arrived            chan struct{}    // closed when it is
	due                time.Time        // zero in a closed loop
	left               int              // how many slots of this process have not finished the round
	disturbancesBefore map[*Slot]int64  // the slots' disturbances when they joined the round
	came               map[coming]bool
	started            time.Time // see Start
}

// A coming is a slot that has come to a point of a round.
type coming struct {
	slot  *Slot
	point string
}

func (r *Round) disturbed(s *Slot) bool {
	before, joined := r.disturbancesBefore[s]
	return joined && s.Disturbances() != before
}

// CreateFirst creates the first round's path before any client exists, so that its creation is not
// counted.
func (r *Rounds) CreateFirst(ctx context.Context) error { return r.Create(ctx, r.Admin, r.path(0)) }

func (r *Rounds) path(turn int64) string { return fmt.Sprintf("%s%d", r.PathPrefix, turn+1) }

// Join returns the round of the slot's current turn. A slot that joins again with a new session
// joins the same round.
func (r *Rounds) Join(ctx context.Context, s *Slot) (*Round, error) {
	now, err := r.begun(ctx, s.turns)
	if err != nil {
		return nil, err
	}
	if err := r.awaitArrival(ctx, s, now); err != nil {
		return nil, err
	}
	if s.lags { // its server may not know the path yet
		if err := drivers.Flush(ctx, s.Conn); err != nil {
			return nil, err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, joined := now.disturbancesBefore[s]; !joined {
		now.disturbancesBefore[s] = s.Disturbances()
	}
	return now, nil
}

// awaitArrival waits until the round is due, in an open loop. The first client to join waits for the
// arrival on behalf of all in this process.
func (r *Rounds) awaitArrival(ctx context.Context, s *Slot, now *Round) (err error) {
	if !s.OpenLoop() {
		return nil
	}
	r.mu.Lock()
	first := !now.asked
	now.asked = true
	r.mu.Unlock()
	if first { // at the end, clients that have joined still finish the round
		if r.Exchange.Owner(r.Slots) {
			now.due = r.takeArrival(ctx, s, now)
		} else if now.due, err = r.awaitDue(ctx, s, now.turn); err != nil {
			return err
		}
		close(now.arrived)
	}
	select {
	case <-now.arrived:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// takeArrival waits until the round is due, and tells other processes before, as soon as it knows when.
func (r *Rounds) takeArrival(ctx context.Context, s *Slot, now *Round) time.Time {
	now.arrival = s.NewArrival()
	told := false
	due, _ := s.awaitArrival(ctx, now.arrival, func(due time.Duration) {
		told = true
		r.Exchange.AnnounceValue("due", now.turn, int64(due))
	})
	if !told { // the loop has ended
		r.Exchange.AnnounceValue("due", now.turn, int64(time.Since(s.pacer.Origin())))
	}
	return due
}

// awaitDue waits until the round is due, by what another process tells.
func (r *Rounds) awaitDue(ctx context.Context, s *Slot, turn int64) (due time.Time, err error) {
	told, err := r.Exchange.AwaitTally(ctx, "due", turn, exchange.Counted(1))
	if err != nil {
		return due, err
	}
	due = s.pacer.Origin().Add(time.Duration(told.Sum))
	t := time.NewTimer(time.Until(due))
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.Stopping:
	case <-ctx.Done():
		return due, context.Cause(ctx)
	}
	return due, nil
}

// Record records how long a phase of a client's turn took, which ended at time now. In an open loop its
// response time counts from when the round was due.
func (r *Rounds) Record(l *metrics.Latency, round *Round, s *Slot, now time.Time, took time.Duration) {
	s.RecordIn(&round.Times, l, took, took+r.Lag(round, now.Add(-took)))
}

// Lag returns the time since the round was due, 0 in a closed loop.
func (r *Rounds) Lag(round *Round, now time.Time) time.Duration {
	if round.due.IsZero() {
		return 0
	}
	return now.Sub(round.due)
}

// Arrive records that the client comes to a point of the round.
func (r *Rounds) Arrive(round *Round, s *Slot, point string) {
	r.mu.Lock()
	again := round.came[coming{s, point}]
	round.came[coming{s, point}] = true
	r.mu.Unlock()
	if again {
		return
	}
	r.Steps.Record(check.Step{Kind: check.Arrived, Client: s.Index, Turn: round.turn, Name: point})
	r.Exchange.Announce(point, round.turn)
}

// Here returns how many clients of this process have come to the point.
func (r *Rounds) Here(round *Round, point string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range round.came {
		if c.point == point {
			n++
		}
	}
	return n
}

// Start records when a client started what all others wait for.
func (r *Rounds) Start(round *Round, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	round.started = at
}

// Started returns when that was; known is false if no client of this process has started it.
func (r *Rounds) Started(round *Round) (at time.Time, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return round.started, !round.started.IsZero()
}

// Wait waits until n clients have come to the point. It is for waiting that is not under test.
func (r *Rounds) Wait(ctx context.Context, round *Round, point string, n int) error {
	return r.Exchange.Await(ctx, point, round.turn, n)
}

// AllArrived reports whether n clients have come to the point.
func (r *Rounds) AllArrived(round *Round, point string, n int) bool {
	return r.Exchange.Announced(point, round.turn) >= int64(n)
}

// Note records a step of the client in the round.
func (r *Rounds) Note(round *Round, s *Slot, at time.Time, step check.Step) {
	step.Client, step.Turn = s.Index, round.turn
	r.Steps.RecordAt(at, step)
}

// begun returns the round of a turn. The first caller creates it.
func (r *Rounds) begun(ctx context.Context, turn int64) (*Round, error) {
	r.mu.Lock()
	now, known := r.active[turn]
	if !known {
		_, here := r.Exchange.Sessions(r.Slots)
		now = &Round{Path: r.path(turn), turn: turn, begun: make(chan struct{}), arrived: make(chan struct{}),
			left: here, disturbancesBefore: make(map[*Slot]int64), came: make(map[coming]bool)}
		if r.active == nil {
			r.active = make(map[int64]*Round)
		}
		r.active[turn] = now
	}
	r.mu.Unlock()
	if !known {
		now.err = r.create(ctx, now)
		close(now.begun)
	}
	select {
	case <-now.begun:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if now.err != nil {
		return nil, fmt.Errorf("make %s: %w", now.Path, now.err)
	}
	return now, nil
}

// create creates what the round needs on the service, or waits until another process has.
func (r *Rounds) create(ctx context.Context, now *Round) error {
	switch {
	case now.turn == 0: // see CreateFirst
		return nil
	case !r.Exchange.Owner(r.Slots):
		return r.Exchange.Await(ctx, "created", now.turn, 1)
	}
	if err := r.Create(ctx, r.Admin, now.Path); err != nil {
		return err
	}
	r.Exchange.Announce("created", now.turn)
	return nil
}

// Finish records that the slot has done its part. It returns how many rounds ended with it: 1 for the last
// slot of a round in the process that has the first slot. The round ends when the last slot of all has
// finished.
func (r *Rounds) Finish(ctx context.Context, s *Slot) (rounds int64, err error) {
	over := r.leave(s)
	r.Exchange.Announce("finished", s.turns)
	if over == nil || !r.Exchange.Owner(r.Slots) {
		return 0, nil
	}
	if err := r.Exchange.CallWhen(ctx, "finished", over.turn, r.Slots, func() error {
		if over.arrival != nil {
			over.arrival.Finish()
		}
		if _, err := namespace.RemoveTree(ctx, r.Admin, over.Path); err != nil {
			return fmt.Errorf("remove %s: %w", over.Path, err)
		}
		return nil
	}); err != nil {
		return 0, err
	}
	return 1, nil
}

// leave returns the round if the slot was the last of this process to leave it, and nil otherwise.
func (r *Rounds) leave(s *Slot) *Round {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.active[s.turns]
	r.noteLeft(now, s)
	if now.left--; now.left > 0 {
		return nil
	}
	delete(r.active, s.turns)
	s.EndRound(&now.Times, now.arrival, now.due)
	return now
}

func (r *Rounds) noteLeft(now *Round, s *Slot) {
	r.Steps.Record(check.Step{Kind: check.Left, Client: s.Index, Turn: now.turn, Disturbed: now.disturbed(s)})
}

// End records which sessions were disturbed in rounds that never ended. It is called when all clients have
// ended.
func (r *Rounds) End() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, now := range r.active {
		for s := range now.disturbancesBefore {
			if now.disturbed(s) {
				r.noteLeft(now, s)
			}
		}
	}
	clear(r.active)
}
