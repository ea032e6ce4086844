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

// A sheet holds the metrics of all runs at one moment.
type sheet struct {
	since, now time.Time
	sums       []metricdata.Sum[float64]
	spreads    []metricdata.ExponentialHistogram[float64]
	levels     []metricdata.Gauge[float64]
}

func newSheet(since, now time.Time) *sheet {
	s := &sheet{since: since, now: now}
	for range counters() {
		s.sums = append(s.sums, metricdata.Sum[float64]{Temporality: metricdata.CumulativeTemporality, IsMonotonic: true})
	}
	for range histograms() {
		s.spreads = append(s.spreads, metricdata.ExponentialHistogram[float64]{Temporality: metricdata.CumulativeTemporality})
	}
	s.levels = make([]metricdata.Gauge[float64], len(gauges()))
	return s
}

// put adds the data points of a run. now is the current record of a run in progress, nil if the
// run is over.
func (s *sheet) put(r Run, t *total, now *metrics.Record) {
	about := r.attributes()
	with := func(more ...attribute.KeyValue) attribute.Set {
		return attribute.NewSet(append(more, about...)...)
	}
	for i, c := range counters() {
		for j, p := range c.parts {
			s.sums[i].DataPoints = append(s.sums[i].DataPoints, metricdata.DataPoint[float64]{
				Attributes: with(p.attributes...), StartTime: s.since, Time: s.now, Value: t.counters[i][j]})
		}
	}
	for i, h := range histograms() {
		for key, e := range t.histograms[i] {
			set := with()
			if h.key != "" {
				set = with(h.key.String(key))
			}
			s.spreads[i].DataPoints = append(s.spreads[i].DataPoints, e.point(set, s.since, s.now))
		}
	}
	for i, g := range gauges() {
		value := 0.0
		if now != nil {
			value = g.of(r, *now)
		}
		s.levels[i].DataPoints = append(s.levels[i].DataPoints, metricdata.DataPoint[float64]{Attributes: with(), Time: s.now, Value: value})
	}
}

func (s *sheet) metrics() (all []metricdata.Metrics) {
	put := func(m Metric, data metricdata.Aggregation) {
		all = append(all, metricdata.Metrics{Name: m.Name, Unit: m.Unit, Description: m.About, Data: data})
	}
	for i, c := range counters() {
		put(c.Metric, s.sums[i])
	}
	for i, h := range histograms() {
		put(h.Metric, s.spreads[i])
	}
	for i, g := range gauges() {
		put(g.Metric, s.levels[i])
	}
	return all
}

// A total is the sum of several runs, with the metrics of the tables.
type total struct {
	counters   [][]float64 // by counter and part
	histograms []map[string]*exponential
}

func newTotal() *total {
	t := &total{}
	for _, c := range counters() {
		t.counters = append(t.counters, make([]float64, len(c.parts)))
	}
	for range histograms() {
		t.histograms = append(t.histograms, make(map[string]*exponential))
	}
	return t
}

func (t *total) clone() *total {
	c := &total{}
	for _, parts := range t.counters {
		c.counters = append(c.counters, slices.Clone(parts))
	}
	for _, of := range t.histograms {
		copied := make(map[string]*exponential, len(of))
		for key, e := range of {
			copied[key] = e.clone()
		}
		c.histograms = append(c.histograms, copied)
	}
	return c
}

func (t *total) add(r metrics.Record) {
	for i, c := range counters() {
		for j, p := range c.parts {
			t.counters[i][j] += p.of(r)
		}
	}
	for i, h := range histograms() {
		for key, recorded := range h.of(r) {
			if recorded == nil {
				continue
			}
			if t.histograms[i][key] == nil {
				t.histograms[i][key] = newExponential()
			}
			t.histograms[i][key].add(recorded, h.unit)
		}
	}
}

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
