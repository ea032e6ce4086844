package metrics

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// A CoarseHistogram has durations from a microsecond to an hour, to two significant decimal digits. That is enough
// for a table, and takes a hundredth of the memory of [NewDurations]. The zero value is empty, and takes none.
type CoarseHistogram struct{ h *hdrhistogram.Histogram }

const (
	coarseDigits  = 2
	coarseLongest = int64(time.Hour / time.Microsecond)
)

func (c *CoarseHistogram) allocate() *hdrhistogram.Histogram {
	if c.h == nil {
		c.h = hdrhistogram.New(1, coarseLongest, coarseDigits)
	}
	return c.h
}

// Add adds a duration. A longer one than an hour counts as an hour, and a negative one as 0.
func (c *CoarseHistogram) Add(d time.Duration) {
	_ = c.allocate().RecordValue(min(max(int64(d/time.Microsecond), 0), coarseLongest)) // in range
}

// Merge adds all durations of the other histogram.
func (c *CoarseHistogram) Merge(o CoarseHistogram) {
	if o.h != nil {
		c.allocate().Merge(o.h) // nothing is out of range: both have the same buckets
	}
}

// Count returns the number of durations.
func (c *CoarseHistogram) Count() int64 {
	if c.h == nil {
		return 0
	}
	return c.h.TotalCount()
}

// Percentile returns a percentile from 0 to 100 in nanoseconds, nil if there are too few durations.
func (c *CoarseHistogram) Percentile(percentile float64) *int64 {
	v, known := Percentile(c.h, percentile)
	if !known {
		return nil
	}
	v *= int64(time.Microsecond)
	return &v
}
