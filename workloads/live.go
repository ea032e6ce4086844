package workloads

import (
	"maps"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/metrics"
)

// A Live is a run whose window is open or has just closed, for observers. It costs the run nothing
// until an observer calls it: the results are computed on each call. It may be called from any
// goroutine, also after the run. Then SoFar returns the run's Record, except for values that are
// known only at the very end.
type Live struct {
	runner *runner
	opened time.Time
	before metrics.Counts
	self   *metrics.Sampler
	seats  map[*metrics.Session]int

	mu        sync.Mutex
	intervals []metrics.Interval
	shut      bool
	now       metrics.Record  // the results when the window closed
	whole     *metrics.Record // the results when all work that was due in the window is done
}

// goLive hands the run to the plan's observer, if it has one.
func (r *runner) goLive(opened time.Time, before metrics.Counts, self *metrics.Sampler) *Live {
	l := &Live{runner: r, opened: opened, before: before, self: self}
	if r.plan.Watch != nil {
		l.seats = make(map[*metrics.Session]int, len(r.crew.seats))
		for i, s := range r.crew.seats {
			l.seats[s.Marks] = i
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

// end closes the window. It takes Duration, Counts and Rounds at the same time, before the
// arrivals in progress are drained, so that throughput and costs per round have a numerator and a
// denominator of the same time.
func (l *Live) end(r *metrics.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = l.passing()
	l.runner.crew.instances.end(&l.now)
	turns := l.runner.crew.cycles.now()
	l.now.Generator = l.self.Stop()
	if l.runner.pacer == nil {
		turns.tell(&l.now, l.runner.crew.instances[0].Together())
	}
	l.shut = true
	l.now.Intervals = r.Intervals
	*r = l.now
}

// passing returns the duration and the counts of the window while it is open.
func (l *Live) passing() metrics.Record {
	return metrics.Record{Duration: time.Since(l.opened), Counts: l.runner.crew.meter.Counts().Sub(l.before)}
}

// close keeps the results of the window. Clients then continue until their rounds have ended.
func (l *Live) close(r *metrics.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	whole := *r
	whole.Herd, whole.Errors = l.runner.crew.meter.SoFar(), l.runner.failures()
	whole.Background, whole.Doubts = l.runner.beside.soFar(), generatorDoubts(&whole)
	l.whole = &whole
}

// SoFar returns the results since the window opened: a Record without safety, without doubts other
// than the generator's, and without the server's counts. The caller must not change its intervals.
func (l *Live) SoFar() metrics.Record {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.whole != nil {
		return *l.whole
	}
	r := l.now
	if l.shut {
		l.runner.crew.instances.timed(&r)
	} else {
		r = l.passing()
		r.Generator = l.self.SoFar()
		l.runner.crew.instances.end(&r)
	}
	r.Intervals, r.Doubts = l.intervals, generatorDoubts(&r)
	r.Herd, r.Errors, r.Background = l.runner.crew.meter.SoFar(), l.runner.failures(), l.runner.beside.soFar()
	l.runner.standing(&r.Generator)
	return r
}

// failures returns the errors so far.
func (r *runner) failures() map[string]int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.errors)
}
