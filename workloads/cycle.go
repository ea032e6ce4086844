package workloads

import (
	"sync"
	"time"

	"github.com/stampede-bench/stampede/metrics"
)

// A cycle tracks the turns that a client takes one after the other: those that ended in the
// window, and the one in progress. All methods accept a nil cycle, which tracks nothing.
type cycle struct {
	mu      sync.Mutex
	opened  time.Time // when the window opened; zero before
	began   time.Time // when the turn in progress began; zero without one; only the client itself sets it
	since   time.Time // when its work was due; zero while the client pauses or waits; only the client itself sets it
	ended   time.Time // when the turn ends, if the client has read the clock; used by the client only
	turns   metrics.Turns
	longest time.Duration // the longest time from when a turn's work was due until the turn ended
}

// begin records that a turn begins. It has no effect after end, which begins the next turn.
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

// start returns when the turn in progress began. Only the client itself may call it.
func (c *cycle) start() time.Time {
	if c == nil {
		return time.Now()
	}
	return c.began
}

// ends sets the time at which the turn ends, for a client that has just read the clock.
func (c *cycle) ends(now time.Time) {
	if c != nil {
		c.ended = now
	}
}

// rest records that the client has no work yet.
func (c *cycle) rest() { c.due(time.Time{}) }

// due records that the client has had work since the given time.
func (c *cycle) due(since time.Time) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.since = since
}

// stop records that no turn is in progress: the turn failed, or the client takes no more turns.
func (c *cycle) stop() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.began, c.since, c.ended = time.Time{}, time.Time{}, time.Time{}
}

// end records that the turn has ended and the next one begins. A client may have read the clock
// before the window opened and call end afterwards: that turn ended before the window.
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

// cycles holds the cycles of the lanes of all clients of a run.
type cycles struct {
	mu     sync.Mutex
	opened time.Time // when the window opened; zero before
	all    map[cycleKey]*cycle
}

type cycleKey struct{ seat, lane int }

// of returns the cycle of one lane of one seat. It outlives the seat's sessions. It is nil where
// turns are not tracked.
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

// open records that the window opens.
func (c *cycles) open() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opened = time.Now()
	for _, one := range c.all {
		one.open(c.opened)
	}
}

// A standstill is a snapshot of the turns of all clients at a moment of the window.
type standstill struct {
	turns   metrics.Turns
	longest time.Duration   // of the turns that ended
	window  time.Duration   // time since the window opened
	open    time.Duration   // time spent within the window in turns that had not ended
	ages    []time.Duration // ages of the turns in progress whose work was due
	clients int             // clients that had a turn
}

// now takes a snapshot of all cycles.
func (c *cycles) now() (s standstill) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.all {
		one.add(&s)
	}
	s.window = time.Since(c.opened) // no turn has spent more time in the window than this
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

// tell fills in the state of a closed loop when its window closed.
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

// overdue is a factor: a turn in progress is overdue if it is older than this many times the
// longest turn that ended.
const overdue = 2
