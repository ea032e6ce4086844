package metrics

import (
	"sync"
	"time"
)

// Fanout describes the notifications of watchers of nodes that are set repeatedly. The zero
// Fanout has no watchers.
type Fanout struct {
	Watchers int // per node
	// Writes counts the writes whose notifications are complete: each watcher was notified or
	// never will be. All fields below describe these writes.
	Writes        int64
	Notifications int64
	// Missed counts changes for which a watcher got no notification: they came between a
	// notification and the next watch, or while the watcher's session was disturbed.
	Missed int64
	// Behind is the largest number of writes of which the slowest watcher had yet to learn.
	Behind int64
	// Times of notifications after the write's acknowledgement: the first of each write, the
	// one that completed half of the write's notifications, the last, and all of them.
	First, Median, Last, Each Signed
}

// Clone returns a copy that later records do not change.
func (f Fanout) Clone() *Fanout {
	f.First, f.Median, f.Last, f.Each = f.First.Clone(), f.Median.Clone(), f.Last.Clone(), f.Each.Clone()
	return &f
}

// FanoutTimes accumulates the times of notifications after the write's acknowledgement, in all
// instances of a run.
type FanoutTimes struct {
	mu  sync.Mutex
	all Fanout
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

// FellBehind records how many writes the slowest watcher has yet to learn of.
func (f *FanoutTimes) FellBehind(writes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all.Behind = max(f.all.Behind, int64(writes))
}

// Merge adds the times of another instance.
func (f *FanoutTimes) Merge(other *FanoutTimes) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := other.all
	f.all.Writes += o.Writes
	f.all.Notifications += o.Notifications
	f.all.Missed += o.Missed
	f.all.Behind = max(f.all.Behind, o.Behind)
	f.all.First.Add(o.First)
	f.all.Median.Add(o.Median)
	f.all.Last.Add(o.Last)
	f.all.Each.Add(o.Each)
}

// Sum returns the totals so far.
func (f *FanoutTimes) Sum(watchers int) *Fanout {
	f.mu.Lock()
	defer f.mu.Unlock()
	sum := f.all.Clone()
	sum.Watchers = watchers
	return sum
}
