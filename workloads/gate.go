package workloads

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/metrics"
)

// A gate is a point of one round that no client may pass before the clients that it waits for have
// come.
//
// Both events are recorded so that every finding is real: a client has come before the call that
// announces it to the service, and is past after the call that waited has returned. Early clients
// are judged when the round is over. If a session was disturbed it may have been lost, and the
// service no longer waits for a lost session: passing early is then a belief overlap. Otherwise it
// is a violation.
type gate struct {
	need  int           // how many seats must come
	early string        // what a client did that passed too early, for messages
	all   chan struct{} // closed when all have come

	mu     sync.Mutex
	came   []*Seat // in the order in which they came
	last   time.Time
	passed []pass
}

// A pass is a seat that passed the gate, and how many seats had come by then.
type pass struct {
	seat *Seat
	came int
}

func newGate(need int, early string) *gate {
	return &gate{need: need, early: early, all: make(chan struct{})}
}

// come records that the seat has come. When it comes again with a new session, nothing changes.
func (g *gate) come(s *Seat) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if slices.Contains(g.came, s) {
		return
	}
	g.came = append(g.came, s)
	if len(g.came) == g.need {
		g.last = time.Now()
		close(g.all)
	}
}

// open reports whether all have come.
func (g *gate) open() bool {
	select {
	case <-g.all:
		return true
	default:
		return false
	}
}

// wait returns when all have come. It is for waiting that is not under test.
func (g *gate) wait(ctx context.Context) error {
	select {
	case <-g.all:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// past records that the seat is past the gate. It returns how long ago the last seat came, and
// false if not all have come.
func (g *gate) past(s *Seat, now time.Time) (time.Duration, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.passed = append(g.passed, pass{s, len(g.came)})
	return now.Sub(g.last), len(g.came) >= g.need
}

// judge adds the gate's findings to the safety verdict. awaits reports whether the gate holds seat
// s until other has come.
func (g *gate) judge(safety *metrics.Safety, awaits func(s, other *Seat) bool, disturbed func(*Seat) bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, p := range g.passed {
		safety.Checked++
		// in an abandoned round, the gate does not know which seats never came
		early, excused := len(g.came) < g.need, disturbed(p.seat)
		for _, missing := range g.came[p.came:] {
			if awaits(p.seat, missing) {
				early, excused = true, excused || disturbed(missing)
			}
		}
		if early {
			wrong(safety, excused, fmt.Sprintf("client %d %s", p.seat.Index+1, g.early))
		}
	}
}

// everybody is the awaits function of a gate that holds every seat until all have come.
func everybody(_, _ *Seat) bool { return true }

// wrong counts a wrong observation: as a belief overlap if a disturbed session excuses it,
// otherwise as a violation.
func wrong(safety *metrics.Safety, excused bool, what string) {
	verdict, count := "violation", &safety.Violations
	if excused {
		verdict, count = "belief overlap after a disturbed session", &safety.BeliefOverlaps
	}
	*count++
	if len(safety.Details) < maxDetails {
		safety.Details = append(safety.Details, verdict+": "+what)
	}
}
