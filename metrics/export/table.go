package export

import (
	"github.com/HdrHistogram/hdrhistogram-go"
	"go.opentelemetry.io/otel/attribute"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results/figure"
)

// A Metric describes one exported metric.
type Metric = figure.Exported

// A counter is a sum that only grows.
type counter struct {
	Metric
	parts []part[metrics.Record, float64]
}

// A part is a metric's value for a set of attributes, computed from a source such as a run.
type part[Source any, Value int64 | float64] struct {
	attributes []attribute.KeyValue
	of         func(Source) Value
}

// only returns the single part of a metric without attributes of its own.
func only[S any, V int64 | float64](of func(S) V) []part[S, V] { return []part[S, V]{{nil, of}} }

// kind returns the part for one value of an attribute.
func kind[S any, V int64 | float64](key, value string, of func(S) V) part[S, V] {
	return part[S, V]{[]attribute.KeyValue{attribute.String(key, value)}, of}
}

func counters() []counter {
	count := func(of func(metrics.Counts) int64) func(metrics.Record) float64 {
		return func(r metrics.Record) float64 { return float64(of(r.Counts)) }
	}
	return []counter{
		{figure.Export("stampede.run.duration"),
			only(func(r metrics.Record) float64 { return r.Duration.Seconds() })},
		{figure.Export("stampede.rounds"),
			only(func(r metrics.Record) float64 { return float64(r.Rounds) })},
		{figure.Export("stampede.notifications"),
			only(count(func(c metrics.Counts) int64 { return c.Notifications }))},
		{figure.Export("stampede.operations"), operations()},
		{figure.Export("stampede.background.operations"), ofBackground(operations())},
		{figure.Export("stampede.network.io"), []part[metrics.Record, float64]{
			kind("network.io.direction", "receive", count(func(c metrics.Counts) int64 { return c.BytesIn })),
			kind("network.io.direction", "transmit", count(func(c metrics.Counts) int64 { return c.BytesOut })),
		}},
		{figure.Export("stampede.wakeups"), []part[metrics.Record, float64]{
			kind("stampede.wakeup", "useful", count(func(c metrics.Counts) int64 { return c.Useful })),
			kind("stampede.wakeup", "wasted", count(func(c metrics.Counts) int64 { return c.Wasted })),
		}},
		{figure.Export("stampede.errors"),
			only(func(r metrics.Record) float64 { return float64(failures(r)) })},
		{figure.Export("stampede.safety.violations"),
			only(func(r metrics.Record) float64 { return float64(r.Safety.Violations) })},
		{figure.Export("stampede.arrivals"), arrivals()},
		{figure.Export("stampede.background.arrivals"), ofBackground(arrivals())},
		{figure.Export("stampede.generator.cpu.time"),
			only(func(r metrics.Record) float64 { return r.Generator.CPUCores * r.Duration.Seconds() })},
		{figure.Export("stampede.generator.cpu.steal.time"),
			only(func(r metrics.Record) float64 { return stolen(r) * r.Duration.Seconds() })},
		{figure.Export("stampede.generator.gc.pause.time"),
			only(func(r metrics.Record) float64 { return r.Generator.GCPause.Seconds() })},
	}
}

// stolen returns 0 where the kernel does not provide this time.
func stolen(r metrics.Record) float64 {
	if r.Generator.Machine == nil {
		return 0
	}
	return r.Generator.Machine.Stolen
}

func failures(r metrics.Record) (n int64) {
	for _, times := range r.Errors {
		n += times
	}
	return n
}

const seconds = 1e-9 // seconds per nanosecond

// A histogram describes a metric that is a distribution.
type histogram struct {
	Metric
	unit float64 // the value of a recorded 1
	of   spread
	key  attribute.Key // attribute for the keys of the map; "" if there is only one histogram
}

// A spread returns the values of a record, by value of the attribute key.
type spread func(metrics.Record) map[string]values

func histograms() []histogram {
	one := func(recorded func(metrics.Record) values) spread {
		return func(r metrics.Record) map[string]values { return map[string]values{"": recorded(r)} }
	}
	phases := func(recorded func(metrics.Phase) *hdrhistogram.Histogram) spread {
		return func(r metrics.Record) map[string]values {
			all := make(map[string]values)
			for _, p := range r.Phases {
				all[p.Name] = valuesOf(recorded(p))
			}
			return all
		}
	}
	response := phases(func(p metrics.Phase) *hdrhistogram.Histogram { return p.Response })
	return []histogram{
		{figure.Export("stampede.phase.response.duration"), seconds,
			response, "stampede.phase"},
		{figure.Export("stampede.phase.service.duration"), seconds,
			phases(func(p metrics.Phase) *hdrhistogram.Histogram { return p.Service }), "stampede.phase"},
		{figure.Export("stampede.background.response.duration"), seconds,
			func(r metrics.Record) map[string]values { return response(background(r)) }, "stampede.phase"},
		{figure.Export("stampede.write.fanout"), 1,
			one(func(r metrics.Record) values { return countsOf(r.Herd.Fanout) }), ""},
		{figure.Export("stampede.write.drain.duration"), seconds,
			one(func(r metrics.Record) values { return valuesOf(r.Herd.Drain) }), ""},
		{figure.Export("stampede.generator.lag.duration"), seconds,
			one(func(r metrics.Record) values { return valuesOf(r.Generator.Lag) }), ""},
	}
}

// operations returns the parts of the operations that a server answered.
func operations() []part[metrics.Record, float64] {
	return []part[metrics.Record, float64]{
		kind("stampede.operation", "read", func(r metrics.Record) float64 { return float64(r.Counts.Reads) }),
		kind("stampede.operation", "write", func(r metrics.Record) float64 { return float64(r.Counts.Writes - r.Counts.FailedWrites) }),
		kind("stampede.operation", "failed_write", func(r metrics.Record) float64 { return float64(r.Counts.FailedWrites) }),
	}
}

// arrivals returns the parts of the offered arrivals. Their sum is the number offered.
func arrivals() []part[metrics.Record, float64] {
	return []part[metrics.Record, float64]{
		kind("stampede.arrival", "on_time", func(r metrics.Record) float64 {
			return float64(r.Generator.Offered - r.Generator.Late)
		}),
		kind("stampede.arrival", "late", func(r metrics.Record) float64 {
			return float64(r.Generator.Late - r.Generator.Skipped)
		}),
		kind("stampede.arrival", "skipped", func(r metrics.Record) float64 { return float64(r.Generator.Skipped) }),
	}
}

// ofBackground returns the same parts for the background load.
func ofBackground(parts []part[metrics.Record, float64]) []part[metrics.Record, float64] {
	for i, p := range parts {
		parts[i].of = func(r metrics.Record) float64 { return p.of(background(r)) }
	}
	return parts
}

// background returns the record of the background load, empty if there is none.
func background(r metrics.Record) metrics.Record {
	if r.Background == nil {
		return metrics.Record{}
	}
	return *r.Background
}

// A gauge is a value that rises and falls during a run. It is 0 when the run is over.
type gauge struct {
	Metric
	of func(Run, metrics.Record) float64
}

func gauges() []gauge {
	return []gauge{
		{figure.Export("stampede.run.clients"),
			func(about Run, _ metrics.Record) float64 { return float64(about.Clients) }},
		{figure.Export("stampede.arrivals.waiting"),
			func(_ Run, r metrics.Record) float64 { return float64(r.Generator.Waiting) }},
		{figure.Export("stampede.arrivals.lag"),
			func(_ Run, r metrics.Record) float64 { return r.Generator.Behind.Seconds() }},
		{figure.Export("stampede.generator.cpu.limit"),
			func(Run, metrics.Record) float64 { return metrics.Cores() }},
	}
}
