package workloads

import (
	"maps"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/metrics/fanout"
	"github.com/stampede-bench/stampede/metrics/shortage"
)

// A Live is a run whose window is open or has just closed, for observers. It costs the run nothing
// until an observer calls it: the results are computed on each call. It may be called from any
// goroutine, also after the run. Then SoFar returns the run's Record, except for values that are
// known only at the very end.
type Live struct {
	runner *runner
	self   *metrics.Sampler
	slots  map[*fanout.Session]int

	mu        sync.Mutex
	intervals []metrics.Interval
	shut      bool
	now       metrics.Record  // the results when the window closed
	whole     *metrics.Record // the results when all work that was due in the window is done
}

// observe hands the run to the plan's observer, if it has one.
func (r *runner) observe(self *metrics.Sampler) *Live {
	l := &Live{runner: r, self: self}
	if r.plan.Watch != nil {
		l.slots = make(map[*fanout.Session]int, len(r.pool.Slots))
		for i, s := range r.pool.Slots {
			l.slots[s.Marks] = i
		}
		r.plan.Watch(l)
	}
	return l
}

// lap keeps an interval of the window for the result.
func (l *Live) lap(i metrics.Interval) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.intervals = append(l.intervals, i)
}

// end records that the window has closed. Duration, Counts and Rounds are those of the window, so that
// throughput and costs per round have a numerator and a denominator of the same time.
func (l *Live) end(r *metrics.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = l.passing()
	turns := l.runner.pool.turns.Snapshot()
	l.now.Generator = l.self.Stop()
	if l.runner.pacer == nil {
		turns.Fill(&l.now, l.runner.pool.instances[0].Together())
	}
	l.shut = true
	l.now.Intervals = r.Intervals
	*r = l.now
}

// passing returns what is known of the window so far.
func (l *Live) passing() metrics.Record {
	on := l.runner
	r := metrics.Record{Duration: on.window.Elapsed(time.Now()), Counts: on.windowCounts(), Rounds: on.done()}
	on.pool.instances.fill(&r)
	return r
}

// close keeps the results of the window. Clients then continue until their rounds have ended.
func (l *Live) close(r *metrics.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	whole := *r
	whole.Herd, whole.Errors = l.runner.pool.Meter.SoFar(), l.runner.failures()
	whole.Background = l.runner.background.soFar()
	warnOfGenerator(&whole)
	l.whole = &whole
}

// warnOfGenerator records the doubts and the warning that are known at any time of the run.
func warnOfGenerator(r *metrics.Record) {
	r.Doubts, r.Warnings = shortage.Doubts(r), nil
	if w, busy := shortage.SharedMachine(r); busy && len(r.Doubts) == 0 {
		r.Warn(w)
	}
}

// SoFar returns the results since the window opened: a Record without safety, without warnings and doubts
// other than the generator's, and without the server's counts. The caller must not change its intervals.
func (l *Live) SoFar() metrics.Record {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.whole != nil {
		return *l.whole
	}
	r := l.now
	if l.shut {
		l.runner.pool.instances.fill(&r)
	} else {
		r = l.passing()
		r.Generator = l.self.SoFar()
	}
	r.Intervals = l.intervals
	warnOfGenerator(&r)
	r.Herd, r.Errors, r.Background = l.runner.pool.Meter.SoFar(), l.runner.failures(), l.runner.background.soFar()
	l.runner.fillOpenLoop(&r.Generator)
	return r
}

// failures returns the errors in the window so far.
func (r *runner) failures() map[string]int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.errors)
}

// Follow follows the writes that wake clients from now on; see [fanout.Meter.Follow] for its cost.
func (l *Live) Follow() { l.runner.pool.Meter.Follow() }

// Hold follows no further writes.
func (l *Live) Hold() { l.runner.pool.Meter.Hold() }

// Unfollow ends following.
func (l *Live) Unfollow() { l.runner.pool.Meter.Unfollow() }

// Woken returns what a typical followed write did to each
// session, by slot: the sessions of the clients, of a leader and of observers. drain is the time
// from the first notification to the last, and writes the number of writes from which the typical
// one was chosen.
func (l *Live) Woken() (slots []fanout.Outcome, drain time.Duration, writes int) {
	slots = make([]fanout.Outcome, len(l.runner.pool.Slots))
	f := l.runner.pool.Meter.Followed()
	for _, w := range f.Wakeups {
		if at, ok := l.slots[w.Session]; ok {
			slots[at] = w.Outcome
		}
	}
	return slots, f.Drain, f.Writes
}
