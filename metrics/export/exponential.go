package export

import (
	"iter"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/stampede-bench/stampede/metrics"
)

// scale is the scale of all exponential histograms: 8 buckets per doubling, so that a
// percentile is off by at most 5 %.
const scale = 3

// An exponential is a histogram whose bucket bounds are powers.
type exponential struct {
	count   uint64
	sum     float64
	zeros   uint64
	buckets map[int32]uint64
}

func newExponential() *exponential { return &exponential{buckets: make(map[int32]uint64)} }

func (e *exponential) clone() *exponential {
	c := *e
	c.buckets = maps.Clone(e.buckets)
	return &c
}

// values are the recorded values and how often each came; nil if nothing was recorded.
type values iter.Seq2[float64, int64]

// valuesOf returns the values of a histogram, which may be nil.
func valuesOf(h *hdrhistogram.Histogram) values {
	if h == nil {
		return nil
	}
	return func(yield func(float64, int64) bool) {
		for _, bar := range h.Distribution() {
			if bar.Count > 0 && !yield((float64(bar.From)+float64(bar.To))/2, bar.Count) {
				return
			}
		}
	}
}

// countsOf returns the values of a tally, which may be nil.
func countsOf(t metrics.Tally) values {
	if t == nil {
		return nil
	}
	return func(yield func(float64, int64) bool) {
		for value, times := range t {
			if !yield(float64(value), times) {
				return
			}
		}
	}
}

// add adds the values, each multiplied by unit.
func (e *exponential) add(all values, unit float64) {
	for value, times := range all {
		n := uint64(times)
		value *= unit
		e.count += n
		e.sum += value * float64(n)
		if value == 0 {
			e.zeros += n
			continue
		}
		e.buckets[bucketOf(value)] += n
	}
}

// bucketOf returns the index i of the value's bucket, which holds values above base^i and up to
// base^(i+1).
func bucketOf(value float64) int32 {
	return int32(math.Ceil(math.Log2(value)*(1<<scale))) - 1
}

func (e *exponential) point(set attribute.Set, since, now time.Time) metricdata.ExponentialHistogramDataPoint[float64] {
	p := metricdata.ExponentialHistogramDataPoint[float64]{
		Attributes: set, StartTime: since, Time: now, Count: e.count, Sum: e.sum, Scale: scale, ZeroCount: e.zeros,
	}
	if len(e.buckets) == 0 {
		return p
	}
	indexes := slices.Sorted(maps.Keys(e.buckets))
	first, last := indexes[0], indexes[len(indexes)-1]
	p.PositiveBucket = metricdata.ExponentialBucket{Offset: first, Counts: make([]uint64, last-first+1)}
	for i, n := range e.buckets {
		p.PositiveBucket.Counts[i-first] = n
	}
	return p
}
