package metrics

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Signed is a distribution of durations that may be negative, in nanoseconds, of
// the precision of a [Latency]. The zero Signed is empty and takes no memory.
type Signed struct {
	below, above *hdrhistogram.Histogram // by magnitude: those less than 0, and the others
}

// Record adds d, or the longest duration there is to its side.
func (s *Signed) Record(d time.Duration) {
	side := &s.above
	if d < 0 {
		side, d = &s.below, -d
	}
	if *side == nil {
		*side = newDurations()
	}
	recordDuration(*side, d)
}

// Count is how many there are.
func (s Signed) Count() int64 { return count(s.below) + count(s.above) }

func count(h *hdrhistogram.Histogram) int64 {
	if h == nil {
		return 0
	}
	return h.TotalCount()
}

// Quantile is the value that q percent do not exceed, 0 without any.
func (s Signed) Quantile(q float64) int64 {
	below, all := count(s.below), s.Count()
	if all == 0 {
		return 0
	}
	rank := min(max(int64(q/100*float64(all)+0.5), 1), all)
	if rank <= below { // the least is the one of the largest magnitude
		return -ranked(s.below, below-rank+1)
	}
	return ranked(s.above, rank-below)
}

// ranked is the rank-th value of a histogram, from 1.
func ranked(h *hdrhistogram.Histogram, rank int64) int64 {
	return h.ValueAtQuantile(100 * float64(rank) / float64(h.TotalCount()))
}

// Min is the least, 0 without any.
func (s Signed) Min() int64 {
	switch {
	case count(s.below) > 0:
		return -s.below.Max()
	case count(s.above) > 0:
		return s.above.Min()
	}
	return 0
}

// Max is the greatest, 0 without any.
func (s Signed) Max() int64 {
	switch {
	case count(s.above) > 0:
		return s.above.Max()
	case count(s.below) > 0:
		return -s.below.Min()
	}
	return 0
}

// Clone is a copy that later records do not change.
func (s Signed) Clone() Signed {
	if s.below != nil {
		s.below = s.below.Clone()
	}
	if s.above != nil {
		s.above = s.above.Clone()
	}
	return s
}
