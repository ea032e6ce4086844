package workloads

import (
	"context"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/workloads/pace"
)

// spreads manages the rounds of a workload in which one client makes an update that all must see.
// A round begins when all clients are ready for it, so that no client misses the update before,
// and it is over when all have seen its update.
type spreads struct {
	clients int

	mu   sync.Mutex
	open map[int64]*spread // by turn
}

// A spread is one update that is being distributed to all clients.
type spread struct {
	ready map[*Seat]bool
	all   chan struct{} // closed when all are ready
	seen  int           // how many clients have finished their part

	mu    sync.Mutex
	claim *pace.Ticket  // holds the update's arrival; nil in a closed loop
	due   time.Time     // when the update was first due
	asked time.Time     // when it was first requested
	made  chan struct{} // closed when the service has acknowledged it
}

func newSpreads(clients int) *spreads {
	return &spreads{clients: clients, open: make(map[int64]*spread)}
}

// join records that the seat is ready for the update of its turn. Joining again with a new session
// changes nothing.
func (s *spreads) join(seat *Seat) *spread {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.open[seat.turns]
	if p == nil {
		p = &spread{ready: make(map[*Seat]bool), all: make(chan struct{}), made: make(chan struct{})}
		s.open[seat.turns] = p
	}
	if !p.ready[seat] {
		p.ready[seat] = true
		if len(p.ready) == s.clients {
			close(p.all)
		}
	}
	return p
}

// leave records that the seat has seen the update. It returns how many rounds ended with it: 1 for
// the last seat of a round.
func (s *spreads) leave(seat *Seat) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.open[seat.turns]
	if p.seen++; p.seen < s.clients {
		return 0
	}
	delete(s.open, seat.turns)
	if p.claim != nil {
		p.claim.Finish()
	}
	return 1
}

// make waits until all are ready and the update is due, and makes it. Only one client calls it,
// from its seat.
func (p *spread) make(ctx context.Context, seat *Seat, think time.Duration, update func(due time.Time) error) error {
	select {
	case <-p.all:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	due := p.arrive(ctx, seat, think)
	if err := update(due); err != nil {
		return err
	}
	if !p.overdue() {
		close(p.made)
	}
	return nil
}

// arrive waits until the update is due. The update is due once, however many attempts it takes to
// make it. When no more rounds begin arrive still returns, since the other clients wait for the
// update.
func (p *spread) arrive(ctx context.Context, seat *Seat, think time.Duration) (due time.Time) {
	p.mu.Lock()
	again := !p.asked.IsZero()
	if !again && seat.pacer != nil {
		p.claim = seat.pacer.Ticket()
	}
	p.mu.Unlock()
	if again {
		return p.due
	}
	if p.claim != nil {
		due, _ = seat.next(ctx, p.claim)
	} else {
		due, _ = seat.Arrive(ctx, think)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.due, p.asked = due, time.Now()
	return due
}

// took returns how long after its request, and after it was due, the update was seen.
func (p *spread) took(seen time.Time) (service, response time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return seen.Sub(p.asked), seen.Sub(p.due)
}

// overdue reports whether the service has acknowledged the update. A client that does not see it
// now never will.
func (p *spread) overdue() bool {
	select {
	case <-p.made:
		return true
	default:
		return false
	}
}
