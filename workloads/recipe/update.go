package recipe

import (
	"context"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/openloop"
)

// updates manages the rounds of a workload in which one client makes an update that all must see.
// A round begins when all clients are ready for it, so that no client misses the update before,
// and it is over when all have seen its update.
type updates struct {
	clients int

	mu     sync.Mutex
	active map[int64]*update // by turn
}

// A update is one update that is being distributed to all clients.
type update struct {
	ready map[*workloads.Slot]bool
	all   chan struct{} // closed when all are ready
	seen  int           // how many clients have finished their part

	mu      sync.Mutex
	arrival *openloop.Ticket // holds the update's arrival; nil in a closed loop
	due     time.Time        // when the update was first due
	asked   time.Time        // when it was first requested
	made    chan struct{}    // closed when the service has acknowledged it
}

func newUpdates(clients int) *updates {
	return &updates{clients: clients, active: make(map[int64]*update)}
}

// join records that the slot is ready for the update of its turn. Joining again with a new session
// changes nothing.
func (s *updates) join(slot *workloads.Slot) *update {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.active[slot.TurnsTaken()]
	if p == nil {
		p = &update{ready: make(map[*workloads.Slot]bool), all: make(chan struct{}), made: make(chan struct{})}
		s.active[slot.TurnsTaken()] = p
	}
	if !p.ready[slot] {
		p.ready[slot] = true
		if len(p.ready) == s.clients {
			close(p.all)
		}
	}
	return p
}

// leave records that the slot has seen the update. It returns how many rounds ended with it: 1 for
// the last slot of a round.
func (s *updates) leave(slot *workloads.Slot) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.active[slot.TurnsTaken()]
	if p.seen++; p.seen < s.clients {
		return 0
	}
	delete(s.active, slot.TurnsTaken())
	if p.arrival != nil {
		p.arrival.Finish()
	}
	return 1
}

// make waits until all are ready and the update is due, and makes it. Only one client calls it,
// from its slot.
func (p *update) make(ctx context.Context, slot *workloads.Slot, think time.Duration, update func(due time.Time) error) error {
	select {
	case <-p.all:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	due := p.arrive(ctx, slot, think)
	if err := update(due); err != nil {
		return err
	}
	if !p.acknowledged() {
		close(p.made)
	}
	return nil
}

// arrive waits until the update is due. The update is due once, however many attempts it takes to
// make it. When no more rounds begin arrive still returns, since the other clients wait for the
// update.
func (p *update) arrive(ctx context.Context, slot *workloads.Slot, think time.Duration) (due time.Time) {
	p.mu.Lock()
	again := !p.asked.IsZero()
	if !again {
		p.arrival = slot.NewArrival()
	}
	p.mu.Unlock()
	if again {
		return p.due
	}
	if p.arrival != nil {
		due, _ = slot.AwaitArrival(ctx, p.arrival)
	} else {
		due, _ = slot.Arrive(ctx, think)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.due, p.asked = due, time.Now()
	return due
}

// took returns how long after its request, and after it was due, the update was seen.
func (p *update) took(seen time.Time) (service, response time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return seen.Sub(p.asked), seen.Sub(p.due)
}

// acknowledged reports whether the service has acknowledged the update. A client that does not see it
// now never will.
func (p *update) acknowledged() bool {
	select {
	case <-p.made:
		return true
	default:
		return false
	}
}
