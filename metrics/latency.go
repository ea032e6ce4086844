package metrics

import (
	"math"
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Digits is the number of significant digits of every histogram.
const Digits = 3

const longest = time.Hour

// NewDurations returns an empty histogram of durations in nanoseconds, from 1 ns to an hour. It
// takes 270 KB, whatever is recorded.
func NewDurations() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, int64(longest), Digits)
}

// RecordDuration records d, limited to the range of the histogram.
func RecordDuration(h *hdrhistogram.Histogram, d time.Duration) {
	_ = h.RecordValue(int64(min(max(d, 0), longest))) // in range
}

// A Latency records how long one phase of a workload took. Its methods may be
// called from any goroutine.
type Latency struct {
	name string

	mu      sync.Mutex
	ended   int64 // executions, also those of which no time was recorded
	service *hdrhistogram.Histogram
	// response is nil while each response time equals its service time, as in a closed loop.
	response *hdrhistogram.Histogram
	lapped   []int64 // counts of all response times at the previous Lap
}

// NewLatency returns an empty Latency of the named phase.
func NewLatency(name string) *Latency {
	return &Latency{name: name, service: NewDurations()}
}

// Name returns the name of the phase.
func (l *Latency) Name() string { return l.name }

// Record adds one execution of the phase. Service time counts from the call, response time from
// the moment when it was due; in a closed loop they are equal.
func (l *Latency) Record(service, response time.Duration) { l.End(service, response, true) }

// End is Record for an execution that may lie outside the window: only Ended counts it unless counts is true.
func (l *Latency) End(service, response time.Duration, counts bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended++
	if !counts {
		return
	}
	if l.response == nil && response != service {
		l.response = l.service.Clone()
	}
	RecordDuration(l.service, service)
	if l.response != nil {
		RecordDuration(l.response, response)
	}
}

// Ended returns how many executions have ended, in the window and outside it. In an open loop that is
// overloaded, those that end in the window were due before it.
func (l *Latency) Ended() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended
}

// responses returns the histogram of all response times.
func (l *Latency) responses() *hdrhistogram.Histogram {
	if l.response == nil {
		return l.service
	}
	return l.response
}

// A Lap summarizes the response times of a phase in a part of the window.
type Lap struct {
	Phase         string
	Count         int64
	P50, P90, P99 time.Duration // 0 if there are too few observations
	Times         *hdrhistogram.Histogram
}

// Lap returns a summary of the observations since the previous Lap.
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
	return Lap{l.name, since.TotalCount(), at(50), at(90), at(99), since}
}

// Phase returns a copy of the observations so far.
func (l *Latency) Phase() Phase {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Phase{Name: l.name, Service: l.service.Clone(), Response: l.responses().Clone()}
}

// Beyond is the number of observations that must lie beyond a percentile for it to be known.
const Beyond = 10

// Supports reports whether count observations are enough for a percentile from 0 to 100. It is
// the only rule for this: if it returns false, a percentile is not shown, written or compared.
func Supports(count int64, percentile float64) bool {
	const whole = 1e6
	rest := int64(math.Round((100 - percentile) / 100 * whole)) // 100-99.9 is not 0.1
	return rest > 0 && count >= (Beyond*whole+rest-1)/rest
}

// Endless reports whether a percentile of so many values and of some that are longer than any is one of the latter. If
// [Beyond] of those lie beyond it, it is, even where all values are too few to know any other: a lower
// percentile, which they are enough for, is endless too.
func Endless(values, endless int64, percentile float64) bool {
	of := values + endless
	return endless > 0 && percentile/100*float64(of) > float64(values) && (Supports(of, percentile) || endless > Beyond)
}

// Percentile returns a percentile from 0 to 100 of a histogram. known is false if there are too
// few observations. The histogram may be nil.
func Percentile(h *hdrhistogram.Histogram, percentile float64) (value int64, known bool) {
	return PercentileWith(h, 0, percentile)
}

// PercentileWith is Percentile of the values of a histogram and of so many values that are longer than any:
// those of work that was due and never done. known is false if the percentile is one of them.
func PercentileWith(h *hdrhistogram.Histogram, endless int64, percentile float64) (value int64, known bool) {
	if h == nil || h.TotalCount() == 0 || !Supports(h.TotalCount()+endless, percentile) {
		return 0, false
	}
	if endless > 0 {
		percentile *= float64(h.TotalCount()+endless) / float64(h.TotalCount())
	}
	if percentile > 100 {
		return 0, false
	}
	return h.ValueAtQuantile(percentile), true
}

// Signed is a distribution of durations that may be negative, in nanoseconds, with the
// precision of a [Latency]. The zero Signed is empty and uses no memory.
type Signed struct {
	below, above *hdrhistogram.Histogram // by magnitude: those below 0, and the others
}

// Record adds d, limited to the largest magnitude that a histogram holds.
func (s *Signed) Record(d time.Duration) {
	side := &s.above
	if d < 0 {
		side, d = &s.below, -d
	}
	if *side == nil {
		*side = NewDurations()
	}
	RecordDuration(*side, d)
}

// Add adds the values of another distribution.
func (s *Signed) Add(other Signed) {
	s.below, s.above = sum(s.below, other.below), sum(s.above, other.above)
}

// sum returns the sum of two histograms of durations, each of which may be nil.
func sum(a, b *hdrhistogram.Histogram) *hdrhistogram.Histogram {
	switch {
	case b == nil:
		return a
	case a == nil:
		return b.Clone()
	}
	a.Merge(b) // nothing is out of range: both have the buckets of NewDurations
	return a
}

// Count returns the number of values.
func (s Signed) Count() int64 { return count(s.below) + count(s.above) }

func count(h *hdrhistogram.Histogram) int64 {
	if h == nil {
		return 0
	}
	return h.TotalCount()
}

// Quantile returns the value that q percent of the values do not exceed, or 0 if there are
// none.
func (s Signed) Quantile(q float64) int64 {
	below, all := count(s.below), s.Count()
	if all == 0 {
		return 0
	}
	rank := min(max(int64(q/100*float64(all)+0.5), 1), all)
	if rank <= below { // the smallest value has the largest magnitude
		return -ranked(s.below, below-rank+1)
	}
	return ranked(s.above, rank-below)
}

// ranked returns the rank-th value of a histogram, from 1.
func ranked(h *hdrhistogram.Histogram, rank int64) int64 {
	return h.ValueAtQuantile(100 * float64(rank) / float64(h.TotalCount()))
}

// Min returns the smallest value, or 0 if there are none.
func (s Signed) Min() int64 {
	switch {
	case count(s.below) > 0:
		return -s.below.Max()
	case count(s.above) > 0:
		return s.above.Min()
	}
	return 0
}

// Max returns the largest value, or 0 if there are none.
func (s Signed) Max() int64 {
	switch {
	case count(s.above) > 0:
		return s.above.Max()
	case count(s.below) > 0:
		return -s.below.Min()
	}
	return 0
}

// Clone returns a copy that later records do not change.
func (s Signed) Clone() Signed {
	if s.below != nil {
		s.below = s.below.Clone()
	}
	if s.above != nil {
		s.above = s.above.Clone()
	}
	return s
}
