package workloads

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/exchange"
	"github.com/stampede-bench/stampede/workloads/namespace"
	"github.com/stampede-bench/stampede/workloads/openloop"
)

// Rounds manages the rounds of a workload that takes all clients together. Each round has a fresh
// path on the service, and a T that its clients share in this process. The round's first client
// has the path created and its last client has it removed, over an uncounted session. If several processes
// have the clients, the one that has the first slot does both.
type Rounds[T any] struct {
	Admin      drivers.Conn
	PathPrefix string // of the rounds' paths
	Slots      int    // how many slots take part in a round
	// Share creates what a round's slots share, and Create what the round needs on the service.
	Share  func() *T
	Create func(ctx context.Context, c drivers.Conn, path string) error
	// Judge adds the findings of a round that is over to the safety verdict. disturbed reports
	// whether a slot's session was disturbed during the round.
	Judge func(s *metrics.Safety, share *T, disturbed func(check.Client) bool)
	// Exchange and Steps are those of the Settings.
	Exchange *exchange.Exchange
	Steps    *check.Steps

	mu     sync.Mutex
	active map[int64]*Round[T] // by turn
	safety metrics.Safety
}

// A Round is the state of one round.
type Round[T any] struct {
	Path   string
	Shared *T
	turn   int64

	begun chan struct{} // closed when begin has returned
	err   error         // of begin

	// Times are those of the round's phases.
	Times metrics.Times

	arrival            *openloop.Ticket       // holds the round's arrival; nil in a closed loop, and before any client has joined
	arrived            chan struct{}          // closed when the round's arrival is due
	due                time.Time              // when the arrival was due; zero in a closed loop
	left               int                    // how many slots of this process have not finished the round
	disturbancesBefore map[check.Client]int64 // the slots' disturbances when they joined the round
}

func (r *Round[T]) disturbed(s check.Client) bool {
	before, joined := r.disturbancesBefore[s]
	return joined && s.Disturbances() != before
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
	if r.Exchange != nil && !r.Exchange.Owner(r.Slots) {
		return r.awaitDue(ctx, s, now.turn)
	}
	r.mu.Lock()
	first := now.arrival == nil
	if first {
		now.arrival = s.NewArrival()
	}
	r.mu.Unlock()
	if first {
		now.due = r.firstArrival(ctx, s, now) // at the end, clients that have joined still finish it
		r.Steps.RecordAt(now.due, check.Step{Kind: check.Due, Client: s.Index, Turn: now.turn})
		close(now.arrived)
	}
	select {
	case <-now.arrived:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// firstArrival waits until the round is due, and tells other processes before, as soon as it knows when.
func (r *Rounds[T]) firstArrival(ctx context.Context, s *Slot, now *Round[T]) time.Time {
	if r.Exchange == nil {
		due, _ := s.AwaitArrival(ctx, now.arrival)
		return due
	}
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
func (r *Rounds[T]) awaitDue(ctx context.Context, s *Slot, turn int64) error {
	told, err := r.Exchange.AwaitTally(ctx, "due", turn, exchange.Counted(1))
	if err != nil {
		return err
	}
	t := time.NewTimer(time.Until(s.pacer.Origin().Add(time.Duration(told.Sum))))
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.Stopping:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// Record records how long a phase of a client's turn took, which ended at time now.
func (r *Rounds[T]) Record(l *metrics.Latency, round *Round[T], s *Slot, now time.Time, took time.Duration) {
	switch {
	case r.Exchange != nil && s.OpenLoop(): // another process may know when the round was due
		r.Steps.RecordAt(now, check.Step{Kind: check.Timed, Client: s.Index, Turn: round.turn, Name: l.Name(), Lag: took})
	case round.due.IsZero():
		s.RecordIn(&round.Times, l, took, took)
	default:
		s.RecordIn(&round.Times, l, took, now.Sub(round.due))
	}
}

// Arrive records that the client comes to a point of the round, for which name stands.
func (r *Rounds[T]) Arrive(round *Round[T], s *Slot, at *check.Barrier, name string) {
	if !at.Arrive(s) {
		return
	}
	r.Steps.Record(check.Step{Kind: check.Arrived, Client: s.Index, Turn: round.turn, Name: name})
	r.Exchange.Announce(name, round.turn)
}

// Wait waits until n clients have come to the point. It is for waiting that is not under test.
func (r *Rounds[T]) Wait(ctx context.Context, round *Round[T], at *check.Barrier, name string, n int) error {
	if r.Exchange == nil {
		return at.Wait(ctx)
	}
	return r.Exchange.Await(ctx, name, round.turn, n)
}

// AllArrived reports whether n clients have come to the point.
func (r *Rounds[T]) AllArrived(round *Round[T], at *check.Barrier, name string, n int) bool {
	if r.Exchange == nil {
		return at.AllArrived()
	}
	return r.Exchange.Announced(name, round.turn) >= int64(n)
}

// Note records a step of the client in the round, if other processes have clients of the round.
func (r *Rounds[T]) Note(round *Round[T], s *Slot, at time.Time, step check.Step) {
	step.Client, step.Turn = s.Index, round.turn
	r.Steps.RecordAt(at, step)
}

// begun returns the round of a turn. The first caller creates it.
func (r *Rounds[T]) begun(ctx context.Context, turn int64) (*Round[T], error) {
	r.mu.Lock()
	now, known := r.active[turn]
	if !known {
		now = &Round[T]{Path: fmt.Sprintf("%s%d", r.PathPrefix, turn+1), turn: turn, begun: make(chan struct{}), arrived: make(chan struct{}),
			left: r.slotsHere(), disturbancesBefore: make(map[check.Client]int64)}
		r.active[turn] = now
	}
	r.mu.Unlock()
	if !known {
		now.Shared, now.err = r.Share(), r.create(ctx, turn, now.Path)
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

// slotsHere returns how many of the slots are in this process.
func (r *Rounds[T]) slotsHere() int {
	if r.Exchange == nil {
		return r.Slots
	}
	_, n := r.Exchange.Sessions(r.Slots)
	return n
}

// create creates what the round needs on the service, or waits until another process has.
func (r *Rounds[T]) create(ctx context.Context, turn int64, path string) error {
	switch {
	case r.Exchange == nil:
		return r.Create(ctx, r.Admin, path)
	case turn == 0: // whoever made the subtree has
		return nil
	case !r.Exchange.Owner(r.Slots):
		return r.Exchange.Await(ctx, "created", turn, 1)
	}
	if err := r.Create(ctx, fullConn(r.Admin), path); err != nil {
		return err
	}
	r.Exchange.Announce("created", turn)
	return nil
}

// Finish records that the slot has done its part. It returns how many rounds ended with it: 1 for
// the last slot of a round, and 1 for the first slot if several processes have the slots.
func (r *Rounds[T]) Finish(ctx context.Context, s *Slot) (int64, error) {
	over := r.leave(s)
	if r.Exchange != nil {
		return r.finishPart(ctx, s, over)
	}
	if over == nil {
		return 0, nil
	}
	if _, err := namespace.RemoveTree(ctx, r.Admin, over.Path); err != nil {
		return 0, fmt.Errorf("remove %s: %w", over.Path, err)
	}
	return 1, nil
}

// finishPart is Finish where several processes have the slots. over is not nil for the last slot of this
// process. The round ends when the last slot of all has finished.
func (r *Rounds[T]) finishPart(ctx context.Context, s *Slot, over *Round[T]) (rounds int64, err error) {
	if s.Index == 0 {
		rounds = 1
	}
	r.Exchange.Announce("finished", s.turns)
	if over == nil || !r.Exchange.Owner(r.Slots) {
		return rounds, nil
	}
	r.Exchange.Go(func() {
		if r.Exchange.Await(ctx, "finished", over.turn, r.Slots) != nil {
			return
		}
		if over.arrival != nil {
			over.arrival.Finish()
		}
		_, _ = namespace.RemoveTree(ctx, fullConn(r.Admin), over.Path) // what is left goes with the run's subtree
	})
	return rounds, nil
}

// leave returns the round if the slot was the last of this process to leave it, and nil otherwise.
func (r *Rounds[T]) leave(s *Slot) *Round[T] {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.active[s.turns]
	if r.Exchange != nil && now.disturbed(s) {
		r.Steps.Record(check.Step{Kind: check.Troubled, Client: s.Index, Turn: now.turn})
	}
	if now.left--; now.left > 0 {
		return nil
	}
	delete(r.active, s.turns)
	s.EndRound(&now.Times, now.arrival)
	if r.Exchange != nil {
		return now
	}
	if now.arrival != nil {
		now.arrival.Finish()
	}
	r.Judge(&r.safety, now.Shared, now.disturbed)
	return now
}

// JudgeSteps judges the steps of the slots of all processes. apply gives what the slots of a round share one
// of its steps.
func (r *Rounds[T]) JudgeSteps(steps []check.TimedStep, apply func(share *T, c check.Client, s check.TimedStep)) (safety metrics.Safety) {
	type place struct {
		turn   int64
		client check.Client
	}
	shares, troubled := map[int64]*T{}, map[place]bool{}
	for _, s := range check.Ordered(steps) {
		client := check.Replayed(s.Client)
		if s.Kind == check.Troubled {
			troubled[place{s.Turn, client}] = true
			continue
		}
		if shares[s.Turn] == nil {
			shares[s.Turn] = r.Share()
		}
		apply(shares[s.Turn], client, s)
	}
	for _, turn := range slices.Sorted(maps.Keys(shares)) {
		r.Judge(&safety, shares[turn], func(c check.Client) bool { return troubled[place{turn, c}] })
	}
	return safety
}

// Verdict also judges the rounds that never ended, and returns all findings. If several processes have the
// slots, JudgeSteps judges them instead.
func (r *Rounds[T]) Verdict() metrics.Safety {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Exchange != nil {
		r.noteTroubled()
		return metrics.Safety{}
	}
	for _, now := range r.active {
		if now.Shared != nil {
			r.Judge(&r.safety, now.Shared, now.disturbed)
		}
	}
	clear(r.active)
	return r.safety
}

// noteTroubled records the slots whose sessions were disturbed in rounds that never ended.
func (r *Rounds[T]) noteTroubled() {
	for turn, now := range r.active {
		for c := range now.disturbancesBefore {
			if now.disturbed(c) {
				r.Steps.Record(check.Step{Kind: check.Troubled, Client: c.Number() - 1, Turn: turn})
			}
		}
	}
}
