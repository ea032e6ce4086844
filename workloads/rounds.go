package workloads

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads/pace"
)

// rounds manages the rounds of a workload that takes all clients together. Each round has a fresh
// path on the service, and a T that its clients share in this process. The round's first client
// has the path created and its last client has it removed, over an uncounted session.
type rounds[T any] struct {
	admin drivers.Conn
	stem  string // of the rounds' paths
	seats int    // how many seats take part in a round
	// begin creates what a round needs on the service, and what its seats share.
	begin func(ctx context.Context, path string) (*T, error)
	// judge adds the findings of a round that is over to the safety verdict. disturbed reports
	// whether a seat's session was disturbed during the round.
	judge func(s *metrics.Safety, share *T, disturbed func(*Seat) bool)

	mu     sync.Mutex
	open   map[int64]*round[T] // by turn
	safety metrics.Safety
}

// A round is the state of one round.
type round[T any] struct {
	path  string
	share *T

	begun chan struct{} // closed when begin has returned
	err   error         // of begin

	claim   *pace.Ticket    // holds the round's arrival; nil in a closed loop, and before any client has joined
	arrived chan struct{}   // closed when the round's arrival is due
	due     time.Time       // when the arrival was due; zero in a closed loop
	left    int             // how many seats have not finished the round
	calm    map[*Seat]int64 // the seats' disturbances when they joined the round
}

func (r *round[T]) disturbed(s *Seat) bool {
	calm, joined := r.calm[s]
	return joined && s.Disturbances() != calm
}

// first creates the first round's path before any client exists, so that its creation is not
// counted.
func (r *rounds[T]) first(ctx context.Context) error {
	r.open = make(map[int64]*round[T])
	_, err := r.begun(ctx, 0)
	return err
}

// join returns the round of the seat's current turn. A seat that joins again with a new session
// joins the same round.
func (r *rounds[T]) join(ctx context.Context, s *Seat) (*round[T], error) {
	now, err := r.begun(ctx, s.turns)
	if err != nil {
		return nil, err
	}
	if err := r.arrive(ctx, s, now); err != nil {
		return nil, err
	}
	if s.lags { // its server may not know the path yet
		if err := fence(ctx, s.Conn); err != nil {
			return nil, err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, joined := now.calm[s]; !joined {
		now.calm[s] = s.Disturbances()
	}
	return now, nil
}

// arrive waits until the round is due, in an open loop. The first client to join waits for the
// arrival on behalf of all.
func (r *rounds[T]) arrive(ctx context.Context, s *Seat, now *round[T]) error {
	if s.pacer == nil {
		return nil
	}
	r.mu.Lock()
	first := now.claim == nil
	if first {
		now.claim = s.pacer.Ticket()
	}
	r.mu.Unlock()
	if first {
		now.due, _ = s.next(ctx, now.claim) // at the end, clients that have joined still finish it
		close(now.arrived)
	}
	select {
	case <-now.arrived:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// responded returns the response time, at time now, of an operation with the service time took.
func (r *round[T]) responded(now time.Time, took time.Duration) time.Duration {
	if r.due.IsZero() {
		return took
	}
	return now.Sub(r.due)
}

// begun returns the round of a turn. The first caller creates it.
func (r *rounds[T]) begun(ctx context.Context, turn int64) (*round[T], error) {
	r.mu.Lock()
	now, known := r.open[turn]
	if !known {
		now = &round[T]{path: fmt.Sprintf("%s%d", r.stem, turn+1), begun: make(chan struct{}), arrived: make(chan struct{}),
			left: r.seats, calm: make(map[*Seat]int64)}
		r.open[turn] = now
	}
	r.mu.Unlock()
	if !known {
		now.share, now.err = r.begin(ctx, now.path)
		close(now.begun)
	}
	select {
	case <-now.begun:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if now.err != nil {
		return nil, fmt.Errorf("make %s: %w", now.path, now.err)
	}
	return now, nil
}

// finish records that the seat has done its part. It returns how many rounds ended with it: 1 for
// the last seat of a round.
func (r *rounds[T]) finish(ctx context.Context, s *Seat) (int64, error) {
	over := r.leave(s)
	if over == nil {
		return 0, nil
	}
	if _, err := removeTree(ctx, r.admin, over.path); err != nil {
		return 0, fmt.Errorf("remove %s: %w", over.path, err)
	}
	return 1, nil
}

// leave returns the round if the seat was the last to leave it, and nil otherwise.
func (r *rounds[T]) leave(s *Seat) *round[T] {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.open[s.turns]
	if now.left--; now.left > 0 {
		return nil
	}
	delete(r.open, s.turns)
	if now.claim != nil {
		now.claim.Finish()
	}
	r.judge(&r.safety, now.share, now.disturbed)
	return now
}

// verdict also judges the rounds that never ended, and returns all findings.
func (r *rounds[T]) verdict() metrics.Safety {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, now := range r.open {
		if now.share != nil {
			r.judge(&r.safety, now.share, now.disturbed)
		}
	}
	clear(r.open)
	return r.safety
}

// makeNode creates a node that no other client creates.
func makeNode(ctx context.Context, c drivers.Conn, path string, data []byte, mode drivers.Mode) error {
	err := drivers.Repeat(func() error {
		_, err := c.Create(ctx, path, data, mode)
		return err
	})
	if errors.Is(err, drivers.ErrNodeExists) { // the reply to the first attempt was lost
		return nil
	}
	return err
}
