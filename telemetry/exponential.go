package telemetry

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// scale is that of all exponential histograms: 8 buckets to each doubling, so
// that a percentile is off by 5 % at the most.
const scale = 3

// An exponential is a histogram with buckets whose bounds are powers.
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

// add adds what was recorded in a histogram, each value times unit.
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

// bucketOf is the index i of the bucket that the value is in: above
// base^i, and at most base^(i+1).
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
