package workloads

import (
	"context"
	"maps"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

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
		Errors: errors, CPUCores: cores})
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
func (r *runner) readServer(ctx context.Context) serverReading {
	asked := r.all()
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), countersTime)
	defer cancel()
	c, err := r.part.Counters(limited)
	if err != nil {
		return serverReading{}
	}
	return serverReading{c, (asked + r.all()) / 2}
}

// countServer sets the record's Server and ServerRounds to what was counted since the first reading, if that is
// known.
func (r *runner) countServer(ctx context.Context, first serverReading, record *metrics.Record) {
	last := r.readServer(ctx)
	if c, known := last.counters.Since(first.counters); known {
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

// MostForeign is the share of the processors that programs outside the run may use. The processors, also
// below, are those that the generator and its servers may use.
const MostForeign = 0.15

// The limits above which the measured times may not be the service's own.
const (
	// full is the share of the processors in use above which threads wait for one.
	full = 0.85
	// waited is the share of the time with work that the generator's threads may wait for a processor
	// while other programs use some.
	waited = 0.5
	// late is how late timers may be, as a share of the measured times.
	late = 0.5
	// leastLate is the lateness that the kernel and the runtime explain without a shortage: on an
	// idle virtual machine 1 % of the timers are a millisecond or two late.
	leastLate = 10 * time.Millisecond
	// stolen is the share of the processors that the hypervisor may take.
	stolen = 0.05
	// leastTime is more than chance explains: the kernel counts in ticks of 10 ms.
	leastTime = 30 * time.Millisecond
)

// generatorDoubts returns the doubts that come from the generator and its machine, at any time of
// the run: which program was short of processors, and why. They say how far times can be wrong, as far as that is
// known, unless the generator itself used up the processors.
func generatorDoubts(m *metrics.Record) (all []metrics.Warning) {
	doubt := func(is bool, code string, numbers metrics.Numbers) {
		if is {
			all = append(all, metrics.Warning{Code: code, Numbers: numbers})
		}
	}
	g, cores := m.Generator, metrics.Cores()
	doubt(g.CPUCores > full*cores, metrics.ClientBound, metrics.Numbers{"generator_cores": g.CPUCores, "machine_cores": cores})
	worth := g.LostTime(leastLate)
	sized := func(numbers metrics.Numbers) metrics.Numbers {
		maps.Copy(numbers, worth)
		return numbers
	}
	if c := g.Machine; c != nil {
		waiting := c.Waiting / max(c.Waiting+g.CPUCores, 1e-9)
		doubt((c.Busy > full*c.Cores || waiting > waited) && more(m, c.Others, MostForeign), metrics.Others, sized(metrics.Numbers{
			"others_cores": c.Others, "machine_cores": c.Cores, "generator_cores": g.CPUCores, "started_cores": c.Started, "service_cores": c.Service, "waiting_share": waiting}))
		doubt(more(m, c.Stolen, stolen), metrics.Stolen, sized(metrics.Numbers{"stolen_cores": c.Stolen, "machine_cores": c.Cores}))
	}
	if p := lateFor(m); p.Name != "" {
		tail, name := tailOf(p.Service)
		all = append(all, metrics.Warning{Code: metrics.Starved, Names: metrics.Names{"phase": p.Name},
			Numbers: sized(metrics.Numbers{"late_p99_ns": float64(at99(g.Lag)), name: float64(tail)})})
	}
	return all
}

// more reports whether processors, averaged over the window, exceed a share of the processors
// and exceed chance.
func more(m *metrics.Record, processors, share float64) bool {
	return processors > share*m.Generator.Machine.Cores && processors*m.Duration.Seconds() > leastTime.Seconds()
}

// lateFor returns the first phase for which the generator's own lateness is too large a share of
// the measured times; a phase without a name if there is none.
func lateFor(m *metrics.Record) metrics.Phase {
	lag := at99(m.Generator.Lag)
	if lag < leastLate {
		return metrics.Phase{}
	}
	for _, p := range m.Phases {
		if p.Service == nil || p.Service.TotalCount() == 0 {
			continue
		}
		if tail, _ := tailOf(p.Service); float64(lag) > late*float64(tail) {
			return p
		}
	}
	return metrics.Phase{}
}

// tailOf returns the 99th percentile of the times of a phase, or the longest time if they are too few for the
// percentile to be known, and its name among the numbers of a warning.
func tailOf(h *hdrhistogram.Histogram) (time.Duration, string) {
	if metrics.Supports(h.TotalCount(), 99) {
		return at99(h), "phase_p99_ns"
	}
	return time.Duration(h.Max()), "phase_max_ns"
}

// sharedMachine returns a warning if the generator and the servers kept the machine busy together.
// That is no reason to doubt a comparison of runs that share the machine in the same way.
func sharedMachine(m *metrics.Record) (w metrics.Warning, busy bool) {
	g := m.Generator
	c := g.Machine
	if c == nil || c.Busy <= full*c.Cores {
		return w, false
	}
	return metrics.Warning{Code: metrics.Shared, Numbers: metrics.Numbers{"busy_share": c.Busy / c.Cores,
		"generator_cores": g.CPUCores, "machine_cores": c.Cores, "started_cores": c.Started}}, true
}

// at99 returns the 99th percentile of a histogram of durations.
func at99(h *hdrhistogram.Histogram) time.Duration {
	if h == nil {
		return 0
	}
	return time.Duration(h.ValueAtQuantile(99))
}
