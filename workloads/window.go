package workloads

import (
	"context"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
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

// measure waits until the window ends and divides it into intervals.
func (r *runner) measure(ctx context.Context, live *Live) {
	laps := time.NewTicker(r.crew.trouble.lap())
	defer laps.Stop()
	var end *time.Timer
	var ends <-chan time.Time
	if r.plan.Rounds == 0 {
		end = time.NewTimer(r.plan.Duration)
		defer end.Stop()
		ends = end.C
	}
	last, from, rounds := live.before, time.Duration(0), int64(0)
	lap := func() {
		now, elapsed, done := r.crew.meter.Counts(), time.Since(live.opened), r.done()
		i, d := metrics.Interval{Start: from, Rounds: done - rounds}, now.Sub(last)
		first := r.crew.instances[0].Lap() // all instances share it
		i.P50, i.P90, i.P99 = first.P50, first.P90, first.P99
		i.Notifications, i.Reads, i.Writes = d.Notifications, d.Reads, d.Writes
		live.lap(i)
		last, from, rounds = now, elapsed, done
		r.crew.trouble.sample(now)
		r.tell(elapsed, first, live.self)
	}
	for {
		select {
		case <-laps.C:
			lap()
		case <-ends:
			lap()
			if !r.goesOn(time.Since(live.opened)) {
				return
			}
			end.Reset(r.plan.Duration)
		case <-r.stop:
			lap()
			return
		case <-ctx.Done():
			return
		}
	}
}

// goesOn reports whether a window that has been open for this long is extended by the plan's
// duration because too few rounds have ended.
func (r *runner) goesOn(open time.Duration) bool {
	return r.pacer == nil && r.done() < r.plan.LeastRounds && open+r.plan.Duration <= r.plan.DurationLimit
}

func (r *runner) tell(elapsed time.Duration, first metrics.Lap, self *metrics.Sampler) {
	if r.plan.Progress == nil {
		return
	}
	p := Progress{Measuring: true, Elapsed: elapsed, Rounds: r.done(), Lap: first, CPUCores: self.CPUCores()}
	for _, n := range r.failures() {
		p.Errors += n
	}
	r.plan.Progress(p)
}

// serverCounts returns the server's own counters, or nil if it has none.
func (r *runner) serverCounts(ctx context.Context) *drivers.Counters {
	w, ok := r.crew.service.(drivers.Witness)
	if !ok {
		return nil
	}
	c, err := w.Counters(context.WithoutCancel(ctx))
	if err != nil {
		return nil
	}
	return &c
}

// serverCounted returns what the server has counted since before.
func (r *runner) serverCounted(ctx context.Context, before *drivers.Counters) *drivers.Counters {
	now := r.serverCounts(ctx)
	if before == nil || now == nil {
		return nil
	}
	now.Notifications -= before.Notifications
	now.Reads -= before.Reads
	now.Writes -= before.Writes
	return now
}
