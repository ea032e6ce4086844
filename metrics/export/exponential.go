package export

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
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

// add adds the values recorded in a histogram, each multiplied by unit.
func (e *exponential) add(h *hdrhistogram.Histogram, unit float64) {
	for _, bar := range h.Distribution() {
		if bar.Count == 0 {
			continue
		}
		n := uint64(bar.Count)
		value := (float64(bar.From) + float64(bar.To)) / 2 * unit
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
