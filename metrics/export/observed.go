package export

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/metrics/observation"
	"github.com/stampede-bench/stampede/metrics/observe"
	"github.com/stampede-bench/stampede/results/figure"
)

// mostPaths is how many path patterns have series of their own. All others share the value
// "others".
const mostPaths = 100

const others = "others"

// Observed returns the producer of the metrics of an observation of a backend's service.
func Observed(backend string, a *observe.Analysis) metric.Producer {
	return &observed{analysis: a, backend: attribute.String("stampede.backend", backend),
		since: time.Now(), own: map[string]bool{}}
}

// observed produces the metrics of an observation.
type observed struct {
	analysis *observe.Analysis
	backend  attribute.KeyValue
	since    time.Time

	mu  sync.Mutex
	own map[string]bool // paths with series of their own
}

// An observedMetric is a metric of an observation, with a data point for each attribute of each
// path.
type observedMetric struct {
	Metric
	grows bool // a sum that only grows, not a current value
	parts func(observation.Pattern) map[attribute.KeyValue]int64
}

func observedMetrics() []observedMetric {
	only := func(of func(observation.Pattern) int64) func(observation.Pattern) map[attribute.KeyValue]int64 {
		return func(p observation.Pattern) map[attribute.KeyValue]int64 {
			return map[attribute.KeyValue]int64{{}: of(p)}
		}
	}
	return []observedMetric{
		{figure.Export("stampede.observed.notifications"), true,
			only(func(p observation.Pattern) int64 { return p.Notifications })},
		{figure.Export("stampede.observed.wakeups"), true, wakeups},
		{figure.Export("stampede.observed.requests"), true, requests},
		{figure.Export("stampede.observed.watches"), false,
			only(func(p observation.Pattern) int64 { return p.Watches })},
	}
}

func wakeups(p observation.Pattern) map[attribute.KeyValue]int64 {
	if p.Notifications == 0 {
		return nil // most paths are not watched
	}
	key := attribute.Key("stampede.wakeup")
	return map[attribute.KeyValue]int64{key.String("acted"): p.Acted, key.String("read"): p.Read, key.String("waited_again"): p.Waited}
}

func requests(p observation.Pattern) map[attribute.KeyValue]int64 {
	all := map[attribute.KeyValue]int64{}
	for op, n := range p.Requests {
		all[attribute.String("stampede.request", op)] = n
	}
	return all
}

// The metrics of an observation that are not simple counts of a pattern.
var (
	observedFanout = figure.Export("stampede.observed.change.fanout")
	observedWasted = figure.Export("stampede.observed.wakeups.wasted")
	observedMissed = figure.Export("stampede.observed.unanalysed")

	observedIncomplete = figure.Export("stampede.observed.incomplete")
)

// Produce implements the Producer interface of the OpenTelemetry SDK.
func (o *observed) Produce(context.Context) ([]metricdata.ScopeMetrics, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now, patterns, report := time.Now(), o.analysis.Patterns(), o.analysis.SoFar()
	o.admit(patterns)
	var all []metricdata.Metrics
	for _, m := range observedMetrics() {
		all = append(all, describe(m.Metric, o.counted(m, patterns, now)))
	}
	all = append(all,
		describe(observedFanout, o.fanout(patterns, now)),
		describe(observedWasted, o.wasted(report.Places, now)),
		describe(observedMissed, growing([]metricdata.DataPoint[int64]{{
			Attributes: attribute.NewSet(o.backend), StartTime: o.since, Time: now, Value: traffic.SumBytes(traffic.ThatCount(report.Traffic.Undecoded)),
		}})),
		describe(observedIncomplete, o.incomplete(report.Traffic, now)))
	return []metricdata.ScopeMetrics{{Scope: instrumentation.Scope{Name: Scope}, Metrics: all}}, nil
}

func describe(m Metric, data metricdata.Aggregation) metricdata.Metrics {
	return metricdata.Metrics{Name: m.Name, Unit: m.Unit, Description: m.About, Data: data}
}

func growing(points []metricdata.DataPoint[int64]) metricdata.Sum[int64] {
	return metricdata.Sum[int64]{DataPoints: points, Temporality: metricdata.CumulativeTemporality, IsMonotonic: true}
}

// admit decides which paths have series of their own: at first those with most notifications. A
// path keeps its series, so that no sum decreases.
func (o *observed) admit(patterns []observation.Pattern) {
	most := slices.Clone(patterns)
	slices.SortStableFunc(most, func(x, y observation.Pattern) int { return cmp.Compare(y.Notifications, x.Notifications) })
	for _, p := range most {
		if len(o.own) < mostPaths {
			o.own[p.Path] = true
		}
	}
}

// attributes returns the attributes of a path's series. A path is any bytes that a program has chosen,
// and an attribute is text.
func (o *observed) attributes(path string, more attribute.KeyValue) attribute.Set {
	if !o.own[path] {
		path = others
	}
	all := []attribute.KeyValue{o.backend, attribute.String("stampede.path", path)}
	if more.Valid() {
		all = append(all, more)
	}
	return attribute.NewSet(all...)
}

func (o *observed) counted(m observedMetric, patterns []observation.Pattern, now time.Time) metricdata.Aggregation {
	sums := map[attribute.Set]int64{}
	for _, p := range patterns {
		for part, n := range m.parts(p) {
			sums[o.attributes(p.Path, part)] += n
		}
	}
	points := o.points(sums, now)
	if m.grows {
		return growing(points)
	}
	return metricdata.Gauge[int64]{DataPoints: points}
}

func (o *observed) wasted(places []observation.Place, now time.Time) metricdata.Aggregation {
	sums := map[attribute.Set]int64{}
	for _, p := range places {
		if p.Wasted != nil {
			sums[o.attributes(p.Path, attribute.KeyValue{})] += *p.Wasted
		}
	}
	return metricdata.Gauge[int64]{DataPoints: o.points(sums, now)}
}

// incomplete has a point for each cause for which traffic was not decoded.
func (o *observed) incomplete(t observation.Traffic, now time.Time) metricdata.Aggregation {
	var points []metricdata.DataPoint[int64]
	for _, u := range traffic.ThatCount(t.Undecoded) {
		set := attribute.NewSet(o.backend, attribute.String("stampede.cause", string(u.Cause)))
		p := metricdata.DataPoint[int64]{Attributes: set, StartTime: o.since, Time: now, Value: 1}
		points = append(points, p)
	}
	return metricdata.Gauge[int64]{DataPoints: points}
}

func (o *observed) points(sums map[attribute.Set]int64, now time.Time) (all []metricdata.DataPoint[int64]) {
	for set, n := range sums {
		all = append(all, metricdata.DataPoint[int64]{Attributes: set, StartTime: o.since, Time: now, Value: n})
	}
	text := func(p metricdata.DataPoint[int64]) string { return p.Attributes.Encoded(attribute.DefaultEncoder()) }
	slices.SortFunc(all, func(x, y metricdata.DataPoint[int64]) int { return cmp.Compare(text(x), text(y)) })
	return all
}

func (o *observed) fanout(patterns []observation.Pattern, now time.Time) metricdata.Aggregation {
	sums := map[attribute.Set]*exponential{}
	for _, p := range patterns {
		if len(p.Fanout) == 0 {
			continue
		}
		set := o.attributes(p.Path, attribute.KeyValue{})
		if sums[set] == nil {
			sums[set] = newExponential()
		}
		sums[set].add(countsOf(p.Fanout), 1)
	}
	h := metricdata.ExponentialHistogram[float64]{Temporality: metricdata.CumulativeTemporality}
	for set, e := range sums {
		h.DataPoints = append(h.DataPoints, e.point(set, o.since, now))
	}
	return h
}
