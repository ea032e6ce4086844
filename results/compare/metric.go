package compare

import (
	"slices"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/metric"
)

// A Metric is a figure that is compared.
type Metric struct {
	metric.Metric
	// Gated says that the metric counts for the verdict.
	Gated bool
	// Instead replaces the figure if a run has too few observations for it; nil if there is no
	// replacement.
	Instead *metric.Metric
}

// Default returns the gated metrics of runs with the given phases: the throughput, the latency of the
// key phase, and the notifications per round.
func Default(phases []string) []Metric {
	names := []string{"rounds_per_s"}
	if key := results.KeyPhase(phases); key != "" {
		names = append(names, key+".p50", key+".p99")
	}
	var metrics []Metric
	for _, name := range append(names, "notifications_per_round") {
		metrics = append(metrics, Metric{Metric: mustParse(name, phases), Gated: true})
	}
	if len(names) > 1 {
		p90 := mustParse(names[1][:len(names[1])-len("p50")]+"p90", phases)
		metrics[2].Instead = &p90
	}
	return metrics
}

// mustParse parses a name that is a constant of this package.
func mustParse(name string, phases []string) metric.Metric {
	f, err := metric.Parse(name, phases)
	if err != nil {
		panic(err)
	}
	return f
}

// Others returns the metrics of runs with the given phases that are not gated.
func Others(phases []string, gated []Metric) (others []Metric) {
	for _, f := range metric.All(phases) {
		if !slices.ContainsFunc(gated, func(m Metric) bool { return m.Name == f.Name }) {
			others = append(others, Metric{Metric: f})
		}
	}
	return others
}

// in returns the figure or, if some runs do not have it and all have the replacement, the replacement.
// It also returns the number of runs in which the returned figure is not known.
func (m Metric) in(runs []results.Run) (f metric.Metric, unknown int) {
	if unknown = without(m.Metric, runs); unknown > 0 && m.Instead != nil && without(*m.Instead, runs) == 0 {
		return *m.Instead, 0
	}
	return m.Metric, unknown
}

func without(f metric.Metric, runs []results.Run) (n int) {
	for _, r := range runs {
		if _, known := f.Of(r); !known {
			n++
		}
	}
	return n
}
