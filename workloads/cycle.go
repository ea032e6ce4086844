package workloads

import (
	"sync"
	"time"

	"github.com/stampede-bench/stampede/metrics"
)

// A cycle follows the turns that a client takes one after the other: those that ended
// in the window, and the one in progress. All of its methods work on a nil one, which
// follows nothing.
type cycle struct {
	mu      sync.Mutex
	opened  time.Time // of the window; zero before
	began   time.Time // of the turn in progress; zero without one; only the client itself sets it
	since   time.Time // when its work was due; zero while the client rests or waits for an arrival; likewise
	ended   time.Time // when the turn ends, if the client has looked at the clock; belongs to the client
	turns   metrics.Turns
	longest time.Duration // from when the work of a turn was due until that ended
}

// begin says that a turn begins. There is nothing to do where one has just ended.
func (c *cycle) begin() {
	if c == nil || !c.since.IsZero() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.began.IsZero() {
		c.began = time.Now()
	}
	c.since = c.began
}

// start is when the turn in progress began. Only the client itself may ask.
func (c *cycle) start() time.Time {
	if c == nil {
		return time.Now()
	}
	return c.began
}

// ends says when the turn ends, for a client that has just looked at the clock.
func (c *cycle) ends(now time.Time) {
	if c != nil {
		c.ended = now
	}
}

// rest says that the client has nothing to do yet.
func (c *cycle) rest() { c.due(time.Time{}) }

// due says that the client has had something to do since then.
func (c *cycle) due(since time.Time) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.since = since
}

// stop says that no turn is in progress any more: it failed, or the client takes no other.
func (c *cycle) stop() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.began, c.since, c.ended = time.Time{}, time.Time{}, time.Time{}
}

// end says that the turn has ended, and the next one begins. The client may have looked at
// the clock before the window opened and say so afterwards: that turn ended before it.
func (c *cycle) end() {
	if c == nil {
		return
	}
	now := c.ended
	if c.ended = (time.Time{}); now.IsZero() {
		now = time.Now()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.opened.IsZero() && !now.Before(c.opened) {
		c.turns.Add(now.Sub(c.began).Seconds(), now.Sub(later(c.began, c.opened)).Seconds())
		if !c.since.IsZero() {
			c.longest = max(c.longest, now.Sub(c.since))
		}
	}
	c.began, c.since = now, now
}

func (c *cycle) open(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opened, c.turns, c.longest = now, metrics.Turns{}, 0
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// cycles are those of the lanes of all clients of a run.
type cycles struct {
	mu     sync.Mutex
	opened time.Time // of the window; zero before
	all    map[cycleKey]*cycle
}

type cycleKey struct{ seat, lane int }

// of returns the cycle of one lane of one seat, which outlives its sessions. It is nil
// where turns are not followed.
func (c *cycles) of(seat, lane int) *cycle {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	key := cycleKey{seat, lane}
	if c.all[key] == nil {
		c.all[key] = &cycle{opened: c.opened}
	}
	return c.all[key]
}

// open opens the window.
func (c *cycles) open() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opened = time.Now()
	for _, one := range c.all {
		one.open(c.opened)
	}
}

// A standstill is what the turns of all clients had come to at a moment of the window.
type standstill struct {
	turns   metrics.Turns
	longest time.Duration   // of those that ended
	window  time.Duration   // since it opened
	open    time.Duration   // spent within the window in turns that had not ended
	ages    []time.Duration // of those of them whose work was due
	clients int             // that had a turn
}

// now looks at all cycles.
func (c *cycles) now() (s standstill) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.all {
		one.add(&s)
	}
	s.window = time.Since(c.opened) // no turn has more of it than this
	return s
}

func (c *cycle) add(s *standstill) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now() // under the lock, so that no turn begins after it
	s.turns, s.longest = s.turns.With(c.turns), max(s.longest, c.longest)
	if !c.began.IsZero() {
		s.open += now.Sub(later(c.began, c.opened))
	}
	if !c.since.IsZero() {
		s.ages = append(s.ages, now.Sub(c.since))
	}
	if c.turns.Count > 0 || !c.began.IsZero() {
		s.clients++
	}
}

// tell fills in how a closed loop stood when its window closed.
func (s standstill) tell(r *metrics.Record, together bool) {
	r.Little = s.turns.Little(s.open.Seconds(), s.window.Seconds(), s.clients, together)
	g := &r.Generator
	g.Unfinished, g.Longest = int64(len(s.ages)), s.longest
	for _, age := range s.ages {
		g.Oldest = max(g.Oldest, age)
		if age > overdue*s.longest {
			g.Overdue++
		}
	}
}

// overdue is how many times as long as the longest turn that ended one in progress has
// taken that is out of the ordinary.
const overdue = 2
