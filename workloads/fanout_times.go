package workloads

import (
	"sync"
	"time"

	"github.com/stampede-bench/stampede/metrics"
)

// FanoutTimes accumulates the times of notifications after the write's acknowledgement, in all
// instances of a run.
type FanoutTimes struct {
	mu  sync.Mutex
	all metrics.Fanout
}

// Reset discards all times.
func (f *FanoutTimes) Reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = metrics.Fanout{}
}

// Add adds a write whose watchers were all notified. The times, in ascending order, are those from the
// request to the acknowledgement and to the notifications; missed is the number of watchers that missed
// the write.
func (f *FanoutTimes) Add(acknowledged time.Duration, notified []time.Duration, missed int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all.Writes++
	f.all.Notifications += int64(len(notified))
	f.all.Missed += int64(missed)
	if n := len(notified); n > 0 {
		f.all.First.Record(notified[0] - acknowledged)
		f.all.Median.Record(notified[(n-1)/2] - acknowledged)
		f.all.Last.Record(notified[n-1] - acknowledged)
	}
	for _, d := range notified {
		f.all.Each.Record(d - acknowledged)
	}
}

// With adds the times of another instance.
func (f *FanoutTimes) With(other *FanoutTimes) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := other.all
	f.all.Writes, f.all.Notifications, f.all.Missed = f.all.Writes+o.Writes, f.all.Notifications+o.Notifications, f.all.Missed+o.Missed
	f.all.First.With(o.First)
	f.all.Median.With(o.Median)
	f.all.Last.With(o.Last)
	f.all.Each.With(o.Each)
}

// Sum returns the totals so far.
func (f *FanoutTimes) Sum(watchers int) *metrics.Fanout {
	f.mu.Lock()
	defer f.mu.Unlock()
	sum := f.all.Clone()
	sum.Watchers = watchers
	return sum
}
