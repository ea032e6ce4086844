package metrics

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

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

// With adds the values of another distribution.
func (s *Signed) With(other Signed) {
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
