package workloads

import (
	"sync"

	"github.com/stampede-bench/stampede/metrics"
)

// fanoutTimes accumulates the times of notifications after the write's acknowledgement, in all
// instances of a run.
type fanoutTimes struct {
	mu  sync.Mutex
	all metrics.Fanout
}

func (f *fanoutTimes) reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = metrics.Fanout{}
}

// add adds a write that is over. Its notifications must be sorted.
func (f *fanoutTimes) add(u *telling) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all.Writes++
	f.all.Notifications += int64(len(u.told))
	f.all.Missed += int64(u.missed)
	took := u.acked.Sub(u.issued)
	if n := len(u.told); n > 0 {
		f.all.First.Record(u.told[0] - took)
		f.all.Median.Record(u.told[(n-1)/2] - took)
		f.all.Last.Record(u.told[n-1] - took)
	}
	for _, d := range u.told {
		f.all.Each.Record(d - took)
	}
}

// sum returns the totals so far.
func (f *fanoutTimes) sum(watchers int) *metrics.Fanout {
	f.mu.Lock()
	defer f.mu.Unlock()
	sum := f.all.Clone()
	sum.Watchers = watchers
	return sum
}
