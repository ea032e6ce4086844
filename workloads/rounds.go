package workloads

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/namespace"
	"github.com/stampede-bench/stampede/workloads/openloop"
)

// Rounds manages the rounds of a workload that takes all clients together. Each round has a fresh
// path on the service, and a T that its clients share in this process. The round's first client
// has the path created and its last client has it removed, over an uncounted session.
type Rounds[T any] struct {
	Admin      drivers.Conn
	PathPrefix string // of the rounds' paths
	Slots      int    // how many slots take part in a round
	// Begin creates what a round needs on the service, and what its slots share.
	Begin func(ctx context.Context, path string) (*T, error)
	// Judge adds the findings of a round that is over to the safety verdict. disturbed reports
	// whether a slot's session was disturbed during the round.
	Judge func(s *metrics.Safety, share *T, disturbed func(check.Client) bool)

	mu     sync.Mutex
	active map[int64]*Round[T] // by turn
	safety metrics.Safety
}

// A Round is the state of one round.
type Round[T any] struct {
	Path   string
	Shared *T

	begun chan struct{} // closed when begin has returned
	err   error         // of begin

	arrival            *openloop.Ticket       // holds the round's arrival; nil in a closed loop, and before any client has joined
	arrived            chan struct{}          // closed when the round's arrival is due
	due                time.Time              // when the arrival was due; zero in a closed loop
	left               int                    // how many slots have not finished the round
	disturbancesBefore map[check.Client]int64 // the slots' disturbances when they joined the round
}

func (r *Round[T]) disturbed(s check.Client) bool {
	calm, joined := r.disturbancesBefore[s]
	return joined && s.Disturbances() != calm
}

// First creates the first round's path before any client exists, so that its creation is not
// counted.
func (r *Rounds[T]) First(ctx context.Context) error {
	r.active = make(map[int64]*Round[T])
	_, err := r.begun(ctx, 0)
	return err
}

// Join returns the round of the slot's current turn. A slot that joins again with a new session
// joins the same round.
func (r *Rounds[T]) Join(ctx context.Context, s *Slot) (*Round[T], error) {
	now, err := r.begun(ctx, s.turns)
	if err != nil {
		return nil, err
	}
	if err := r.awaitArrival(ctx, s, now); err != nil {
		return nil, err
	}
	if s.lags { // its server may not know the path yet
		if err := flush(ctx, s.Conn); err != nil {
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
// arrival on behalf of all.
func (r *Rounds[T]) awaitArrival(ctx context.Context, s *Slot, now *Round[T]) error {
	if !s.OpenLoop() {
		return nil
	}
	r.mu.Lock()
	first := now.arrival == nil
	if first {
		now.arrival = s.NewArrival()
	}
	r.mu.Unlock()
	if first {
		now.due, _ = s.AwaitArrival(ctx, now.arrival) // at the end, clients that have joined still finish it
		close(now.arrived)
	}
	select {
	case <-now.arrived:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// ResponseTime returns the response time, at time now, of an operation with the service time took.
func (r *Round[T]) ResponseTime(now time.Time, took time.Duration) time.Duration {
	if r.due.IsZero() {
		return took
	}
	return now.Sub(r.due)
}

// begun returns the round of a turn. The first caller creates it.
func (r *Rounds[T]) begun(ctx context.Context, turn int64) (*Round[T], error) {
	r.mu.Lock()
	now, known := r.active[turn]
	if !known {
		now = &Round[T]{Path: fmt.Sprintf("%s%d", r.PathPrefix, turn+1), begun: make(chan struct{}), arrived: make(chan struct{}),
			left: r.Slots, disturbancesBefore: make(map[check.Client]int64)}
		r.active[turn] = now
	}
	r.mu.Unlock()
	if !known {
		now.Shared, now.err = r.Begin(ctx, now.Path)
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

// Finish records that the slot has done its part. It returns how many rounds ended with it: 1 for
// the last slot of a round.
func (r *Rounds[T]) Finish(ctx context.Context, s *Slot) (int64, error) {
	over := r.leave(s)
	if over == nil {
		return 0, nil
	}
	if _, err := namespace.RemoveTree(ctx, r.Admin, over.Path); err != nil {
		return 0, fmt.Errorf("remove %s: %w", over.Path, err)
	}
	return 1, nil
}

// leave returns the round if the slot was the last to leave it, and nil otherwise.
func (r *Rounds[T]) leave(s *Slot) *Round[T] {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.active[s.turns]
	if now.left--; now.left > 0 {
		return nil
	}
	delete(r.active, s.turns)
	if now.arrival != nil {
		now.arrival.Finish()
	}
	r.Judge(&r.safety, now.Shared, now.disturbed)
	return now
}

// Verdict also judges the rounds that never ended, and returns all findings.
func (r *Rounds[T]) Verdict() metrics.Safety {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, now := range r.active {
		if now.Shared != nil {
			r.Judge(&r.safety, now.Shared, now.disturbed)
		}
	}
	clear(r.active)
	return r.safety
}
