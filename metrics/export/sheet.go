package export

import (
	"time"

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
