package export

import (
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results/figure"
)

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
			return float64(r.Generator.Offered - r.Generator.Late - r.Generator.Skipped)
		}),
		kind("stampede.arrival", "late", func(r metrics.Record) float64 { return float64(r.Generator.Late) }),
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
