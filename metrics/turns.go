package metrics

import (
	"sync"
	"sync/atomic"
	"time"
)

// A TurnTracker tracks the turns that a client takes one after the other: those that ended in the
// window, and the one in progress. All methods accept a nil TurnTracker, which tracks nothing.
type TurnTracker struct {
	window  *Window
	mu      sync.Mutex
	began   time.Time // when the turn in progress began; zero without one; only the client itself sets it
	since   time.Time // when its work was due; zero while the client pauses or waits; only the client itself sets it
	inside  bool      // the turn in progress began in the window
	turns   Turns
	longest time.Duration // the longest time from when a turn's work was due until the turn ended
}

// Begin records that a turn begins. It has no effect after End, which begins the next turn.
func (t *TurnTracker) Begin() {
	if t == nil || !t.since.IsZero() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.began.IsZero() {
		t.began, t.inside = time.Now(), false
	}
	t.since = t.began
}

// Began returns when the turn in progress began. Only the client itself may call it.
func (t *TurnTracker) Began() time.Time {
	if t == nil {
		return time.Now()
	}
	return t.began
}

// Rest records that the client has no work yet.
func (t *TurnTracker) Rest() { t.Due(time.Time{}) }

// Due records that the client has had work since the given time.
func (t *TurnTracker) Due(since time.Time) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.since = since
}

// Stop records that no turn is in progress: the turn failed, or the client takes no more turns. A turn that
// failed was in progress, and is none of those that ended.
func (t *TurnTracker) Stop() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.turns.Within += float64(t.inWindow(t.window.EndOrNow(time.Now())))
	t.began, t.since = time.Time{}, time.Time{}
}

// End records that the turn ended at the given time, which lies in the window if counts is true, and the next one
// begins.
func (t *TurnTracker) End(now time.Time, counts bool) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if counts {
		took := now.Sub(t.began)
		within := took
		if !t.inside {
			within = t.inWindow(now)
		}
		t.turns.Add(took, within)
		switch {
		case t.since == t.began:
			t.longest = max(t.longest, took)
		case !t.since.IsZero():
			t.longest = max(t.longest, now.Sub(t.since))
		}
	}
	t.began, t.since, t.inside = now, now, counts
}

// inWindow returns how much of the turn in progress lies between the opening of the window and now.
func (t *TurnTracker) inWindow(now time.Time) time.Duration {
	if t.began.IsZero() {
		return 0
	}
	return t.window.Opened(t.began, now)
}

// TurnTrackers holds the trackers of the streams of all clients of a run.
type TurnTrackers struct {
	window *Window
	mu     sync.Mutex
	all    map[trackerKey]*TurnTracker
}

// NewTurnTrackers returns the trackers of a run with the window.
func NewTurnTrackers(w *Window) *TurnTrackers {
	return &TurnTrackers{window: w, all: make(map[trackerKey]*TurnTracker)}
}

type trackerKey struct{ slot, lane int }

// Tracker returns the tracker of one stream of one slot. It outlives the slot's sessions. It is nil where
// turns are not tracked.
func (t *TurnTrackers) Tracker(slot, lane int) *TurnTracker {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	key := trackerKey{slot, lane}
	if t.all[key] == nil {
		t.all[key] = &TurnTracker{window: t.window}
	}
	return t.all[key]
}

// A TurnsSnapshot is a snapshot of the turns of all clients at a moment of the window.
type TurnsSnapshot struct {
	turns   Turns
	longest time.Duration   // of the turns that ended
	window  time.Duration   // time since the window opened
	open    time.Duration   // time spent within the window in turns that had not ended
	ages    []time.Duration // ages of the turns in progress whose work was due
	clients int             // clients that had a turn
}

// Snapshot takes a snapshot of all trackers when the window has just closed.
func (t *TurnTrackers) Snapshot() (s TurnsSnapshot) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.window = t.window.Elapsed(time.Now()); s.window == 0 {
		return s // the run ended before the window: no turn was in progress in it
	}
	for _, one := range t.all {
		one.add(&s)
	}
	return s
}

func (t *TurnTracker) add(s *TurnsSnapshot) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.window.EndOrNow(time.Now()) // under the lock, so that few turns begin after it
	s.turns, s.longest = s.turns.Plus(t.turns), max(s.longest, t.longest)
	s.open += t.inWindow(now)
	if !t.since.IsZero() {
		s.ages = append(s.ages, max(now.Sub(t.since), 0))
	}
	if t.turns != (Turns{}) || !t.began.IsZero() {
		s.clients++
	}
}

// Fill fills in the state of a closed loop when its window closed.
func (s TurnsSnapshot) Fill(r *Record, together bool) {
	r.Little = s.turns.Little(s.open, s.window, s.clients, together)
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

// Times are the times of a turn, or of a round that several clients share, until it is known whether they
// count.
type Times struct {
	held   atomic.Bool // there is something to settle
	mu     sync.Mutex
	all    []timing
	counts []counted
}

type timing struct {
	latency           *Latency
	service, response time.Duration
}

type counted struct {
	by *atomic.Int64
	n  int64
}

// Count adds to a counter if the times count.
func (t *Times) Count(c *atomic.Int64, n int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.counts = append(t.counts, counted{c, n})
	t.held.Store(true)
}

// Record adds a service and a response time, which the latency gets if the times count.
func (t *Times) Record(l *Latency, service, response time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = append(t.all, timing{l, service, response})
	t.held.Store(true)
}

// Settle ends the phases, records their times and adds the counts if they count, and forgets them.
func (t *Times) Settle(count bool) {
	if !t.held.Load() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, one := range t.all {
		one.latency.End(one.service, one.response, count)
	}
	if count {
		for _, c := range t.counts {
			c.by.Add(c.n)
		}
	}
	t.all, t.counts = t.all[:0], t.counts[:0]
	t.held.Store(false)
}

// Timings are the times of a workload's phases, in the order that results have them. A lap is one of the
// first phase.
type Timings []*Latency

// Latencies returns the times of each phase.
func (t Timings) Latencies() []*Latency { return t }

// Lap returns the times of the first phase since the last call of Lap.
func (t Timings) Lap() Lap { return t[0].Lap() }

// Fill fills in the phases.
func (t Timings) Fill(r *Record) {
	r.Phases = nil
	for _, l := range t {
		r.Phases = append(r.Phases, l.Phase())
	}
}
