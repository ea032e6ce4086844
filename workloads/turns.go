package workloads

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/namespace"
)

// A TurnTracker tracks the turns that a client takes one after the other: those that ended in the
// window, and the one in progress. All methods accept a nil TurnTracker, which tracks nothing.
type TurnTracker struct {
	window  *metrics.Window
	mu      sync.Mutex
	began   time.Time // when the turn in progress began; zero without one; only the client itself sets it
	since   time.Time // when its work was due; zero while the client pauses or waits; only the client itself sets it
	turns   metrics.Turns
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
	t.began, t.since = time.Time{}, time.Time{}
}

// End records that the turn ended at the given time and the next one begins.
func (t *TurnTracker) End(now time.Time) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.window.Contains(now) {
		t.turns.Add(now.Sub(t.began).Seconds(), now.Sub(later(t.began, t.window.Opens())).Seconds())
		if !t.since.IsZero() {
			t.longest = max(t.longest, now.Sub(t.since))
		}
	}
	t.began, t.since = now, now
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// turnTrackers holds the trackers of the streams of all clients of a run.
type turnTrackers struct {
	window *metrics.Window
	mu     sync.Mutex
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
		t.all[key] = &TurnTracker{window: t.window}
	}
	return t.all[key]
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

// snapshot takes a snapshot of all trackers when the window has just closed.
func (t *turnTrackers) snapshot() (s turnsSnapshot) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, one := range t.all {
		one.add(&s)
	}
	s.window = t.window.Elapsed(time.Now())
	return s
}

func (t *TurnTracker) add(s *turnsSnapshot) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.window.EndOrNow(time.Now()) // under the lock, so that few turns begin after it
	s.turns, s.longest = s.turns.Plus(t.turns), max(s.longest, t.longest)
	if !t.began.IsZero() {
		s.open += max(now.Sub(later(t.began, t.window.Opens())), 0)
	}
	if !t.since.IsZero() {
		s.ages = append(s.ages, max(now.Sub(t.since), 0))
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

// newInstances creates n instances, at least one, for the clients of a part.
func newInstances(n int, f Form, s Settings, part *Part) instances {
	s.timings, s.fanout = make(map[string]*metrics.Latency), new(FanoutTimes)
	all := make(instances, max(n, 1))
	for i := range all {
		s.steps, s.exchange = part.Steps.ForGroup(i), part.Exchange.Instance(i)
		all[i] = f.New(s)
	}
	return all
}

// base returns the path of the nodes of an instance. Several instances each have a node of their own.
func (all instances) base(of string, i int) string {
	if len(all) == 1 {
		return of
	}
	return fmt.Sprintf("%s/%d", of, i+1)
}

func (all instances) attach(admin drivers.Conn, base string, clients int) {
	for i, w := range all {
		w.Attach(admin, all.base(base, i), clients/len(all))
	}
}

// setup creates the nodes that the clients of each instance share.
func (all instances) setup(ctx context.Context, c drivers.Conn, base string) error {
	for i, w := range all {
		if at := all.base(base, i); at != base {
			if err := namespace.CreateNode(ctx, c, at, nil, 0); err != nil {
				return err
			}
		}
		if err := w.Setup(ctx, c); err != nil {
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

// fill fills in what the instances have measured so far: the times, which they share, and their combined
// fairness. It returns how many rounds have their times.
func (all instances) fill(r *metrics.Record) (timed int64) {
	var now metrics.Record
	for _, w := range all {
		before := now.Fairness
		if w.Fill(&now); before != nil {
			*now.Fairness = now.Fairness.Add(*before)
		}
	}
	r.Phases, r.Fairness, r.Fanout, r.Mix, r.Storm = now.Phases, now.Fairness, now.Fanout, now.Mix, now.Storm
	return now.Rounds
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

// Lap returns the times of the first phase since the last call of Lap.
func (t Timings) Lap() metrics.Lap { return t[0].Lap() }

// Fill fills in the phases.
func (t Timings) Fill(r *metrics.Record) {
	r.Phases = nil
	for _, l := range t {
		r.Phases = append(r.Phases, l.Phase())
	}
}
