package plan

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// period is the time between two attempts of clients that retry in step.
const period = time.Second

// The longest wait with jitter before the first attempt, and before any.
const (
	shortest = 100 * time.Millisecond
	longest  = 2 * time.Second
)

// A Pace decides when one client tries to connect. Its first attempt is made at once.
type Pace struct {
	retry string
	start time.Time

	mu    sync.Mutex
	begun bool
	waits int // since the last success
}

// NewPace returns the pace of a client. With Step the clients with one start make their attempts at the same
// instants, the whole seconds after it. With Jitter each client waits for a random time, at most as long as a limit that
// doubles with each attempt.
func NewPace(retry string, start time.Time) *Pace { return &Pace{retry: retry, start: start} }

// Wait returns when the next attempt is due, or the context's error.
func (p *Pace) Wait(ctx context.Context) error {
	due := time.NewTimer(p.next())
	defer due.Stop()
	select {
	case <-due.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Succeeded ends a series of attempts: the waits of the next begin with the shortest.
func (p *Pace) Succeeded() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waits = 0
}

// next returns the time until the next attempt.
func (p *Pace) next() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !p.begun:
		p.begun = true
		return 0
	case p.retry == Step:
		return period - time.Since(p.start)%period
	}
	limit := longest
	if p.waits < 5 { // further doublings exceed the limit
		limit = min(limit, shortest<<p.waits)
	}
	p.waits++
	return rand.N(limit)
}
