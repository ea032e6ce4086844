package check

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/metrics"
)

// A Barrier checks a point of one round that no client may pass before the clients that it waits for
// have arrived.
//
// Both events are recorded so that every finding is real: a client has arrived before the call that
// announces it to the service, and has passed after the call that waited has returned. Early clients
// are judged when the round is over. If a session was disturbed it may have been lost, and the
// service no longer waits for a lost session: passing early is then a belief overlap. Otherwise it
// is a violation.
type Barrier struct {
	need  int           // how many clients must arrive
	early string        // what a client did that passed too early, for messages
	all   chan struct{} // closed when all have arrived

	mu      sync.Mutex
	arrived []Client // in order of arrival
	last    time.Time
	passed  []passage
}

// A passage is a client that passed the barrier, and how many clients had arrived by then.
type passage struct {
	client  Client
	arrived int
}

func NewBarrier(need int, early string) *Barrier {
	return &Barrier{need: need, early: early, all: make(chan struct{})}
}

// Arrive records that the client has arrived, and reports whether that is new. Arriving again with a new
// session changes nothing.
func (g *Barrier) Arrive(s Client) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if slices.Contains(g.arrived, s) {
		return false
	}
	g.arrived = append(g.arrived, s)
	if len(g.arrived) == g.need {
		g.last = time.Now()
		close(g.all)
	}
	return true
}

// AllArrived reports whether all have arrived.
func (g *Barrier) AllArrived() bool {
	select {
	case <-g.all:
		return true
	default:
		return false
	}
}

// Wait returns when all have arrived. It is for waiting that is not under test.
func (g *Barrier) Wait(ctx context.Context) error {
	select {
	case <-g.all:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Pass records that the client has passed the barrier. It returns how long ago the last client
// arrived, and false if not all have arrived.
func (g *Barrier) Pass(s Client, now time.Time) (time.Duration, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.passed = append(g.passed, passage{s, len(g.arrived)})
	return now.Sub(g.last), len(g.arrived) >= g.need
}

// Judge adds the barrier's findings to the safety verdict. awaits reports whether the barrier holds client
// s until other has arrived.
func (g *Barrier) Judge(safety *metrics.Safety, awaits func(s, other Client) bool, disturbed func(Client) bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, p := range g.passed {
		safety.Checked++
		// in an abandoned round, the barrier does not know which clients never arrived
		early, excused := len(g.arrived) < g.need, disturbed(p.client)
		for _, missing := range g.arrived[p.arrived:] {
			if awaits(p.client, missing) {
				early, excused = true, excused || disturbed(missing)
			}
		}
		if early {
			AddFinding(safety, excused, fmt.Sprintf("client %d %s", p.client.Number(), g.early))
		}
	}
}

// AllClients is the awaits function of a barrier that holds every client until all have arrived.
func AllClients(_, _ Client) bool { return true }

// AddFinding counts a wrong observation: as a belief overlap if a disturbed session excuses it,
// otherwise as a violation.
func AddFinding(safety *metrics.Safety, excused bool, what string) {
	verdict, count := "violation", &safety.Violations
	if excused {
		verdict, count = "belief overlap after a disturbed session", &safety.BeliefOverlaps
	}
	*count++
	if len(safety.Details) < MaxDetails {
		safety.Details = append(safety.Details, verdict+": "+what)
	}
}
