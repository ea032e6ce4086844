package workloads

import (
	"maps"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/metrics"
)

// A Live is a run whose window is open or just closed, for those who watch it.
// Watching costs the run nothing but when somebody looks: what they see is
// summed up when they ask. It may be asked from any goroutine, also after the
// run, whose Record it then tells but for what is known at the very end only.
type Live struct {
	runner *runner
	opened time.Time
	before metrics.Counts
	self   *metrics.Sampler
	seats  map[*metrics.Session]int

	mu        sync.Mutex
	intervals []metrics.Interval
	shut      bool
	now       metrics.Record  // what the window had come to when it was closed
	whole     *metrics.Record // when all that was due in it is done
}

// goLive hands the run to who wants to watch it.
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

// lap keeps an interval of the window, for those who want to know how it went.
func (l *Live) lap(i metrics.Interval) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.intervals = append(l.intervals, i)
}

// end closes the window. Duration, Counts and Rounds are taken together, before
// arrivals that are still in progress are drained, so that throughput and costs per
// round have a numerator and a denominator of the same time.
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

// passing is what is counted until the window is shut.
func (l *Live) passing() metrics.Record {
	return metrics.Record{Duration: time.Since(l.opened), Counts: l.runner.crew.meter.Counts().Sub(l.before)}
}

// close keeps what was measured in the window, after which the clients go on for
// as long as their rounds take.
func (l *Live) close(r *metrics.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	whole := *r
	whole.Herd, whole.Errors = l.runner.crew.meter.SoFar(), l.runner.failures()
	whole.Background, whole.Doubts = l.runner.beside.soFar(), generatorDoubts(&whole)
	l.whole = &whole
}

// SoFar is what was measured since the window was opened: a Record without safety,
// doubts that are not of the generator, and what the server says. Its intervals are
// not to be changed.
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

// failures are the errors so far.
func (r *runner) failures() map[string]int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.errors)
}
