package workloads

import (
	"context"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads/exchange"
)

// wait waits for d, or until the run ends.
func (r *runner) wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	case <-r.stop:
	}
}

// lapTime is the length of one interval of the result, and of the interval between progress
// reports.
const lapTime = 250 * time.Millisecond

// openWindow opens the window now, unless an open loop has decided when it opens.
func (r *runner) openWindow() {
	if !r.window.IsOpen() {
		r.window.OpenNow()
	}
	r.opening.Do(func() { r.before = r.pool.counts() })
}

// closeWindow closes the window now, unless it is closed, and takes the counts of its messages. It never
// closes it in the past: other clients may have been told since that their work is in the window.
func (r *runner) closeWindow() {
	r.window.CloseNow()
	r.shutAt(r.pool.counts())
}

// shutAt sets the counts at the end of the window, unless they are set.
func (r *runner) shutAt(counts poolCounts) {
	r.closing.Do(func() {
		r.met = counts
		r.shut.Store(true)
	})
}

// windowCounts returns the counts of the messages in the window, up to now or to its end.
func (r *runner) windowCounts() metrics.Counts {
	if !r.shut.Load() {
		return r.pool.Meter.Counts().Sub(r.before.clients)
	}
	return r.met.clients.Sub(r.before.clients)
}

// measure waits until the window ends, closes it, and divides it into intervals.
func (r *runner) measure(ctx context.Context, live *Live) {
	defer r.closeWindow()
	interval := r.pool.faults.interval()
	laps := time.NewTicker(interval)
	defer laps.Stop()
	var end *time.Timer
	var ends <-chan time.Time
	opened := r.window.Opens()
	if r.plan.Rounds == 0 {
		end = time.NewTimer(time.Until(opened.Add(r.plan.Duration)))
		defer end.Stop()
		ends = end.C
	}
	last, from, rounds := r.before.clients, time.Duration(0), int64(0)
	lap := func(closing bool) {
		now, elapsed, done := r.pool.Meter.Counts(), r.window.Elapsed(time.Now()), r.done()
		// However late this process is, intervals begin when they were due. The last tick may come before the end.
		due := elapsed.Truncate(interval)
		if due <= from && (!closing || elapsed-from < time.Millisecond) {
			return
		}
		i, d := metrics.Interval{Start: from, Rounds: done - rounds}, now.Sub(last)
		first := r.pool.instances[0].Lap() // all instances share it
		i.P50, i.P90, i.P99 = first.P50, first.P90, first.P99
		i.Notifications, i.Reads, i.Writes = d.Notifications, d.Reads, d.Writes
		live.lap(i)
		last, from, rounds = now, due, done
		r.pool.faults.sample(now)
		r.reportProgress(elapsed, first, live.self.CPUCores())
	}
	windows := int64(0) // how often the window was to end
	for {
		select {
		case <-laps.C:
			lap(false)
			continue
		case <-ends:
			if windows++; r.extends(ctx, windows) {
				// As due, not from now: what the processes wait for each other must not make one window longer than another.
				end.Reset(time.Until(opened.Add(time.Duration(windows+1) * r.plan.Duration)))
				continue
			}
		case <-r.enough:
		case <-r.stop:
		case <-ctx.Done():
			return
		}
		lap(true)
		return
	}
}

// extends reports whether a window that was to end for the n-th time is extended by the plan's duration
// because too few rounds have ended, in all processes together.
func (r *runner) extends(ctx context.Context, n int64) bool {
	if r.pacer != nil || r.plan.LeastRounds == 0 || time.Duration(n+1)*r.plan.Duration > r.plan.DurationLimit {
		return false
	}
	x := r.part.Exchange.Instance(noInstance)
	x.AnnounceValue(windowTopic, n, r.done())
	all, err := x.AwaitTally(ctx, windowTopic, n, exchange.Counted(x.Processes))
	return err == nil && all.Sum < r.plan.LeastRounds
}

func (r *runner) reportProgress(elapsed time.Duration, first metrics.Lap, cores float64) {
	if r.plan.Progress == nil {
		return
	}
	r.mu.Lock()
	errors := r.allErrs
	r.mu.Unlock()
	r.plan.Progress(Progress{Measuring: !r.stopping.Load(), Elapsed: elapsed, Rounds: r.done(), Lap: first,
		Errors: errors, CPUCores: cores, Unanswered: time.Duration(r.silence.Load())})
}

// A serverReading has the servers' own counters, and the rounds that had ended when they were read.
type serverReading struct {
	counters drivers.Reading // nil if the servers have none
	rounds   int64
}

// countersTime is how long the servers may take to tell their counters.
const countersTime = 2 * time.Second

// serverCounters returns how the only part of a run reads the servers' own counters.
func serverCounters(service drivers.Service) func(context.Context) (drivers.Reading, error) {
	return func(ctx context.Context) (drivers.Reading, error) {
		w, ok := service.(drivers.ServerStats)
		if !ok {
			return nil, nil
		}
		return w.Counters(ctx)
	}
}

// readServer reads the servers' own counters, outside the window. A server reads them at some time between
// request and reply, so the rounds are those at the middle.
func (r *runner) readServer() serverReading {
	if r.pool.gone.Load() {
		return serverReading{}
	}
	asked := r.all()
	limited, cancel := context.WithTimeout(r.pool.waiting, countersTime)
	defer cancel()
	c, err := r.part.Counters(limited)
	if err != nil {
		return serverReading{}
	}
	return serverReading{c, (asked + r.all()) / 2}
}

// countServer sets the record's Server and ServerRounds to what was counted since the first reading, if that is
// known.
func (r *runner) countServer(first serverReading, record *metrics.Record) {
	last := r.readServer()
	if c, known := last.counters.Growth(first.counters); known {
		record.Server, record.ServerRounds = &c, last.rounds-first.rounds
	}
}

// warmSlices is the number of slices of the plan's warm-up.
const warmSlices = 2

// warmUp drives the clients for the plan's warm-up, and then until throughput is steady or the
// plan's limit is reached. Its measurements are discarded.
func (r *runner) warmUp(ctx context.Context) (w metrics.Warmup) {
	began := time.Now()
	defer func() { w.Took = time.Since(began) }()
	if r.plan.Warmup <= 0 || r.plan.WarmupLimit <= r.plan.Warmup || r.plan.Open.Rate.Open() || r.plan.Background.Clients > 0 {
		if r.window.IsOpen() {
			began = r.window.Opens().Add(-r.plan.Warmup)
		}
		r.wait(ctx, time.Until(began.Add(r.plan.Warmup)))
		return w
	}
	slice := r.plan.Warmup / warmSlices
	if r.plan.Cold {
		slice = max(slice, coldSlice)
	}
	for done := r.all(); time.Since(began)+slice <= r.plan.WarmupLimit && ctx.Err() == nil && !r.stopping.Load(); {
		from := time.Now()
		r.wait(ctx, slice)
		now := r.all()
		if w.Add(float64(now-done)/time.Since(from).Seconds()) && time.Since(began) >= r.plan.Warmup {
			return w
		}
		done = now
	}
	return w
}

// coldSlice is the length of a slice on a server that has done no work yet: long enough to see
// throughput rise slowly while a just-in-time compiler works.
const coldSlice = 500 * time.Millisecond
