package workloads

import (
	"context"
	"sync"
	"time"
)

// spreads are the rounds of a workload in which one client makes an update and
// all must see it: a round begins when all are ready for it, so that nobody
// misses the one before, and is over when all have seen it.
type spreads struct {
	clients int

	mu   sync.Mutex
	open map[int64]*spread // by turn
}

// A spread is one update on its way to everybody.
type spread struct {
	ready map[*Seat]bool
	all   chan struct{} // closed when all are ready
	seen  int           // how many clients' part in it is over

	mu    sync.Mutex
	asked time.Time     // when the update was asked for first
	made  chan struct{} // closed when the service has acknowledged it
}

func newSpreads(clients int) *spreads {
	return &spreads{clients: clients, open: make(map[int64]*spread)}
}

// join says that the seat is ready for the update of its turn. To join again,
// with a new session, changes nothing.
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

// leave says that the seat has seen the update, and returns how many rounds are
// over with that: the last one's ends the round.
func (s *spreads) leave(seat *Seat) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.open[seat.turns]
	if p.seen++; p.seen < s.clients {
		return 0
	}
	delete(s.open, seat.turns)
	return 1
}

// make waits until all are ready and makes the update. Only one client does.
func (p *spread) make(ctx context.Context, update func() error) error {
	select {
	case <-p.all:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	p.ask(time.Now())
	if err := update(); err != nil {
		return err
	}
	if !p.overdue() {
		close(p.made)
	}
	return nil
}

func (p *spread) ask(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asked.IsZero() {
		p.asked = now
	}
}

// took is how long after it was asked for the update was seen at a moment.
func (p *spread) took(seen time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return seen.Sub(p.asked)
}

// overdue tells whether the update was made, so that whoever does not see it
// never will.
func (p *spread) overdue() bool {
	select {
	case <-p.made:
		return true
	default:
		return false
	}
}
