package workloads

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/metrics"
)

// A gate is a point of one round that nobody may be past before those have come
// whom it waits for.
//
// Both sides are marked so that what is seen was real: somebody has come before
// the call that says so to the service, and is past after the call that waited
// has returned. Who was early is judged when the round is over: a session that
// was disturbed may have been lost, and then nobody waits for it, so that is an
// overlap of belief; any other is a violation.
type gate struct {
	need  int           // how many must come
	early string        // what somebody did who was past too early
	all   chan struct{} // closed when all have come

	mu     sync.Mutex
	came   []*Seat // in this order
	last   time.Time
	passed []pass
}

// A pass is somebody past the gate when so many had come.
type pass struct {
	seat *Seat
	came int
}

func newGate(need int, early string) *gate {
	return &gate{need: need, early: early, all: make(chan struct{})}
}

// come notes that the seat has come. Coming again, with a new session, changes
// nothing.
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

// open tells whether all have come.
func (g *gate) open() bool {
	select {
	case <-g.all:
		return true
	default:
		return false
	}
}

// wait returns when all have come. It is for those who are not under test.
func (g *gate) wait(ctx context.Context) error {
	select {
	case <-g.all:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// past notes that the seat is past the gate, and returns how long that is after
// all had come; false if they have not.
func (g *gate) past(s *Seat, now time.Time) (time.Duration, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.passed = append(g.passed, pass{s, len(g.came)})
	return now.Sub(g.last), len(g.came) >= g.need
}

// judge adds to the safety what the gate saw. awaits tells whether the gate
// keeps one seat until another has come.
func (g *gate) judge(safety *metrics.Safety, awaits func(s, other *Seat) bool, disturbed func(*Seat) bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, p := range g.passed {
		safety.Checked++
		// Who never came, in a round that was broken off, is nobody we know.
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

// everybody is what a gate awaits that keeps all until all have come.
func everybody(_, _ *Seat) bool { return true }

// wrong counts something that must not be: a violation unless a disturbed
// session excuses it.
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
