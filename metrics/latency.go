package metrics

import (
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Durations are recorded in nanoseconds, from 1 ns to longest, with three
// significant digits. Such a histogram takes 270 KB, whatever is recorded.
const (
	digits  = 3
	longest = time.Hour
)

func newDurations() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, int64(longest), digits)
}

// recordDuration records d, or the longest duration there is.
func recordDuration(h *hdrhistogram.Histogram, d time.Duration) {
	_ = h.RecordValue(int64(min(max(d, 0), longest))) // in range
}

// A Latency records how long one phase of a workload took. Its methods may be
// called from any goroutine.
type Latency struct {
	name string

	mu      sync.Mutex
	service *hdrhistogram.Histogram
	// response is nil as long as each was the same as its service time, as in a
	// closed loop.
	response *hdrhistogram.Histogram
	lapped   []int64 // the counts of all response times at the last Lap
}

// NewLatency returns an empty Latency of the phase that is called name.
func NewLatency(name string) *Latency {
	return &Latency{name: name, service: newDurations()}
}

// Record adds one passage of the phase: service counts from the call, response
// from when it was due; in a closed loop these are the same.
func (l *Latency) Record(service, response time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.response == nil && response != service {
		l.response = l.service.Clone()
	}
	recordDuration(l.service, service)
	if l.response != nil {
		recordDuration(l.response, response)
	}
}

// responses are all response times.
func (l *Latency) responses() *hdrhistogram.Histogram {
	if l.response == nil {
		return l.service
	}
	return l.response
}

// A Lap is how long a phase took, from when it was due, in a part of the window.
type Lap struct {
	Phase         string
	Count         int64
	P50, P90, P99 time.Duration // 0 of too few to know it
}

// Lap returns what was recorded since the Lap before.
func (l *Latency) Lap() Lap {
	l.mu.Lock()
	defer l.mu.Unlock()
	lap := l.responses().Export()
	all := slices.Clone(lap.Counts)
	for i, before := range l.lapped {
		lap.Counts[i] -= before
	}
	l.lapped = all
	since := hdrhistogram.Import(lap)
	at := func(percentile float64) time.Duration {
		v, _ := Percentile(since, percentile)
		return time.Duration(v)
	}
	return Lap{l.name, since.TotalCount(), at(50), at(90), at(99)}
}

// Reset forgets everything: the end of the warm-up.
func (l *Latency) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.service.Reset()
	l.response, l.lapped = nil, nil
}

// Phase is what was recorded so far, a copy.
func (l *Latency) Phase() Phase {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Phase{Name: l.name, Service: l.service.Clone(), Response: l.responses().Clone()}
}
