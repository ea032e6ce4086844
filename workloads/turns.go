package workloads

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/exchange"
	"github.com/stampede-bench/stampede/workloads/namespace"
)

// A TurnTracker tracks the turns that a client takes one after the other: those that ended in the
// window, and the one in progress. All methods accept a nil TurnTracker, which tracks nothing.
type TurnTracker struct {
	mu      sync.Mutex
	opened  time.Time // when the window opened; zero before
	began   time.Time // when the turn in progress began; zero without one; only the client itself sets it
	since   time.Time // when its work was due; zero while the client pauses or waits; only the client itself sets it
	ended   time.Time // when the turn ends, if the client has read the clock; used by the client only
	turns   metrics.Turns
	longest time.Duration // the longest time from when a turn's work was due until the turn ended
}

// Begin records that a turn begins. It has no effect after end, which begins the next turn.
func (t *TurnTracker) Begin() {
	if t == nil || !t.since.IsZero() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.began.IsZero() {
		t.began = time.Now()
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

// EndsAt sets the time at which the turn ends, for a client that has just read the clock.
func (t *TurnTracker) EndsAt(now time.Time) {
	if t != nil {
		t.ended = now
	}
}

// rest records that the client has no work yet.
func (t *TurnTracker) rest() { t.due(time.Time{}) }

// due records that the client has had work since the given time.
func (t *TurnTracker) due(since time.Time) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.since = since
}

// Stop records that no turn is in progress: the turn failed, or the client takes no more turns.
func (t *TurnTracker) Stop() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.began, t.since, t.ended = time.Time{}, time.Time{}, time.Time{}
}

// End records that the turn has ended and the next one begins. A client may have read the clock
// before the window opened and call end afterwards: that turn ended before the window.
func (t *TurnTracker) End() {
	if t == nil {
		return
	}
	now := t.ended
	if t.ended = (time.Time{}); now.IsZero() {
		now = time.Now()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.opened.IsZero() && !now.Before(t.opened) {
		t.turns.Add(now.Sub(t.began).Seconds(), now.Sub(later(t.began, t.opened)).Seconds())
		if !t.since.IsZero() {
			t.longest = max(t.longest, now.Sub(t.since))
		}
	}
	t.began, t.since = now, now
}

func (t *TurnTracker) open(now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.opened, t.turns, t.longest = now, metrics.Turns{}, 0
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// turnTrackers holds the trackers of the streams of all clients of a run.
type turnTrackers struct {
	mu     sync.Mutex
	opened time.Time // when the window opened; zero before
	all    map[trackerKey]*TurnTracker
}

type trackerKey struct{ slot, lane int }

// tracker returns the tracker of one stream of one slot. It outlives the slot's sessions. It is nil where
// turns are not tracked.
func (t *turnTrackers) tracker(slot, lane int) *TurnTracker {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	key := trackerKey{slot, lane}
	if t.all[key] == nil {
		t.all[key] = &TurnTracker{opened: t.opened}
	}
	return t.all[key]
}

// open records that the window opens.
func (t *turnTrackers) open() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.opened = time.Now()
	for _, one := range t.all {
		one.open(t.opened)
	}
}

// A turnsSnapshot is a snapshot of the turns of all clients at a moment of the window.
type turnsSnapshot struct {
	turns   metrics.Turns
	longest time.Duration   // of the turns that ended
	window  time.Duration   // time since the window opened
	open    time.Duration   // time spent within the window in turns that had not ended
	ages    []time.Duration // ages of the turns in progress whose work was due
	clients int             // clients that had a turn
}

// snapshot takes a snapshot of all trackers.
func (t *turnTrackers) snapshot() (s turnsSnapshot) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, one := range t.all {
		one.add(&s)
	}
	s.window = time.Since(t.opened) // no turn has spent more time in the window than this
	return s
}

func (t *TurnTracker) add(s *turnsSnapshot) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now() // under the lock, so that no turn begins after it
	s.turns, s.longest = s.turns.Plus(t.turns), max(s.longest, t.longest)
	if !t.began.IsZero() {
		s.open += now.Sub(later(t.began, t.opened))
	}
	if !t.since.IsZero() {
		s.ages = append(s.ages, now.Sub(t.since))
	}
	if t.turns.Count > 0 || !t.began.IsZero() {
		s.clients++
	}
}

// fill fills in the state of a closed loop when its window closed.
func (s turnsSnapshot) fill(r *metrics.Record, together bool) {
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

// instances are the instances of one recipe that a run drives at the same time, each with the same
// number of clients: many locks instead of one. They share nothing but their latency recorders.
type instances []Workload

// newInstances creates n instances, at least one. x is nil unless other processes have clients of them.
func newInstances(n int, f Form, s Settings, x *exchange.RunExchange) instances {
	s.timings, s.fanout = make(map[string]*metrics.Latency), new(FanoutTimes)
	all := make(instances, max(n, 1))
	steps := s.steps
	for i := range all {
		s.steps, s.exchange = steps.ForGroup(i), x.Instance(i)
		all[i] = f.New(s)
	}
	return all
}

// setup creates the nodes that the clients of each instance share. Several instances each have a
// node of their own.
func (all instances) setup(ctx context.Context, c drivers.Conn, base string, clients int) error {
	for i, w := range all {
		at := base
		if len(all) > 1 {
			at = fmt.Sprintf("%s/%d", base, i+1)
			if err := namespace.CreateNode(ctx, c, at, nil, 0); err != nil {
				return err
			}
		}
		if err := w.Setup(ctx, c, at, clients/len(all)); err != nil {
			return err
		}
	}
	return nil
}

// slots returns the slots of all clients, leaders and observers, in the order of the instances.
func (all instances) slots(clients int) (slots []*Slot) {
	for i, w := range all {
		for index := range SessionCount(w, clients/len(all)) {
			s := &Slot{Index: index, instance: i, name: fmt.Sprintf("client %d", index+1)}
			if len(all) > 1 {
				s.name += fmt.Sprintf(" of group %d", i+1)
			}
			slots = append(slots, s)
		}
	}
	return slots
}

func (all instances) begin() {
	for _, w := range all {
		w.Begin()
	}
}

// end fills in the times, which the instances share, and the combined fairness of the instances.
func (all instances) end(r *metrics.Record) {
	for _, w := range all {
		before := r.Fairness
		if w.End(r); before != nil {
			*r.Fairness = r.Fairness.Add(*before)
		}
	}
}

// fillTimes fills in the times again after the window has closed. Arrivals that were due in the window
// and ended after it count among the times, but not among the rounds.
func (all instances) fillTimes(r *metrics.Record) {
	var now metrics.Record
	all.end(&now)
	r.Phases, r.Fanout = now.Phases, now.Fanout
}

// verdict returns the findings of the safety checks of all instances.
func (all instances) verdict() (v metrics.Safety) {
	for i, w := range all {
		one := w.Verdict()
		if len(all) > 1 {
			for j := range one.Details {
				one.Details[j] = fmt.Sprintf("group %d: %s", i+1, one.Details[j])
			}
		}
		v = v.Add(one, check.MaxDetails)
	}
	return v
}

// Timings are the times of a workload's phases, in the order that results have them. A lap is one of the
// first phase.
type Timings []*metrics.Latency

// Begin discards the times recorded so far.
func (t Timings) Begin() {
	for _, l := range t {
		l.Reset()
	}
}

// Latencies returns the times of each phase.
func (t Timings) Latencies() []*metrics.Latency { return t }

// Lap returns the times of the first phase since the last call of Lap.
func (t Timings) Lap() metrics.Lap { return t[0].Lap() }

// End fills in the phases.
func (t Timings) End(r *metrics.Record) {
	r.Phases = nil
	for _, l := range t {
		r.Phases = append(r.Phases, l.Phase())
	}
}
