package export

import (
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"
	"go.opentelemetry.io/otel/attribute"

	"github.com/stampede-bench/stampede/metrics"
)

// A Metric describes one exported metric: its name and unit after OpenTelemetry's semantic
// conventions, and a description.
type Metric struct{ Name, Unit, About string }

// Metrics returns all metrics that runs, servers and observations can have.
func Metrics() []Metric { return slices.Concat(runMetrics(), serverMetrics(), allObserved()) }

func runMetrics() (all []Metric) {
	for _, c := range counters() {
		all = append(all, c.Metric)
	}
	for _, h := range histograms() {
		all = append(all, h.Metric)
	}
	for _, g := range gauges() {
		all = append(all, g.Metric)
	}
	return all
}

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
	// Unless the description says otherwise, the values are those of the runs themselves.
	return []counter{
		{Metric{"stampede.run.duration", "s", "time measured"},
			only(func(r metrics.Record) float64 { return r.Duration.Seconds() })},
		{Metric{"stampede.rounds", "{round}", "rounds completed"},
			only(func(r metrics.Record) float64 { return float64(r.Rounds) })},
		{Metric{"stampede.notifications", "{notification}", "notifications that the server sent"},
			only(count(func(c metrics.Counts) int64 { return c.Notifications }))},
		{Metric{"stampede.operations", "{operation}", "operations that the server answered"}, operations()},
		{Metric{"stampede.background.operations", "{operation}", "operations of the background load, not included in stampede.operations"}, ofBackground(operations())},
		{Metric{"stampede.network.io", "By", "bytes on the wire, measured at the clients"}, []part[metrics.Record, float64]{
			kind("network.io.direction", "receive", count(func(c metrics.Counts) int64 { return c.BytesIn })),
			kind("network.io.direction", "transmit", count(func(c metrics.Counts) int64 { return c.BytesOut })),
		}},
		{Metric{"stampede.wakeups", "{wakeup}", "notifications after which a client completed its phase (useful) or waited again (wasted)"}, []part[metrics.Record, float64]{
			kind("stampede.wakeup", "useful", count(func(c metrics.Counts) int64 { return c.Useful })),
			kind("stampede.wakeup", "wasted", count(func(c metrics.Counts) int64 { return c.Wasted })),
		}},
		{Metric{"stampede.errors", "{error}", "operations that failed"},
			only(func(r metrics.Record) float64 { return float64(failures(r)) })},
		{Metric{"stampede.safety.violations", "{violation}", "safety violations; known when a run is over"},
			only(func(r metrics.Record) float64 { return float64(r.Safety.Violations) })},
		{Metric{"stampede.arrivals", "{arrival}", "arrivals of an open loop; on-time arrivals count when they are complete"}, arrivals()},
		{Metric{"stampede.background.arrivals", "{arrival}", "arrivals of the background load, if it has a rate"}, ofBackground(arrivals())},
		{Metric{"stampede.generator.cpu.time", "s", "processor time that the load generator used"},
			only(func(r metrics.Record) float64 { return r.Generator.CPUCores * r.Duration.Seconds() })},
		{Metric{"stampede.generator.cpu.steal.time", "s", "processor time that the hypervisor gave to other machines (steal)"},
			only(func(r metrics.Record) float64 { return stolen(r) * r.Duration.Seconds() })},
		{Metric{"stampede.generator.gc.pause.time", "s", "time for which the garbage collector stopped the load generator"},
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
		{Metric{"stampede.phase.response.duration", "s", "response time of a phase: from the moment when it was due"}, seconds,
			response, "stampede.phase"},
		{Metric{"stampede.phase.service.duration", "s", "service time of a phase: from its call"}, seconds,
			phases(func(p metrics.Phase) *hdrhistogram.Histogram { return p.Service }), "stampede.phase"},
		{Metric{"stampede.background.response.duration", "s", "response time of an operation of the background load"}, seconds,
			func(r metrics.Record) map[string]values { return response(behind(r)) }, "stampede.phase"},
		{Metric{"stampede.write.fanout", "{notification}", "notifications that one write caused"}, 1,
			one(func(r metrics.Record) values { return countsOf(r.Herd.Fanout) }), ""},
		{Metric{"stampede.write.drain.duration", "s", "from the first to the last notification of one write"}, seconds,
			one(func(r metrics.Record) values { return valuesOf(r.Herd.Drain) }), ""},
		{Metric{"stampede.generator.lag.duration", "s", "delay of the load generator's timers"}, seconds,
			one(func(r metrics.Record) values { return valuesOf(r.Generator.Lag) }), ""},
	}
}
