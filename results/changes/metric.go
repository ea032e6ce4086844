package changes

import (
	"slices"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figures"
)

// A Metric is a figure by which two sides are compared.
type Metric struct {
	figures.Figure
	// Gated says that the metric counts for the verdict.
	Gated bool
	// Instead replaces the figure if a run has too few observations for it; nil if there is no
	// replacement.
	Instead *figures.Figure
}

// telling returns the phases, over all recipes, that show the effect of a herd or a slow service most.
func telling() []string {
	return []string{"handoff", "failover", "converge", "pass", "enter", "decide", "read", "back", "last"}
}

// Default returns the gated metrics of runs with the given phases: the throughput, the latency of the
// telling phase, and the notifications per round.
func Default(phases []string) []Metric {
	names := []string{"rounds_per_s"}
	if i := slices.IndexFunc(telling(), func(p string) bool { return slices.Contains(phases, p) }); i >= 0 {
		names = append(names, telling()[i]+".p50", telling()[i]+".p99")
	}
	var metrics []Metric
	for _, name := range append(names, "notifications_per_round") {
		metrics = append(metrics, Metric{Figure: mustParse(name, phases), Gated: true})
	}
	if len(names) > 1 {
		p90 := mustParse(names[1][:len(names[1])-len("p50")]+"p90", phases)
		metrics[2].Instead = &p90
	}
	return metrics
}

// mustParse parses a name that is a constant of this package.
func mustParse(name string, phases []string) figures.Figure {
	f, err := figures.Parse(name, phases)
	if err != nil {
		panic(err)
	}
	return f
}

// Others returns the metrics of runs with the given phases that are not gated.
func Others(phases []string, gated []Metric) (others []Metric) {
	for _, f := range figures.All(phases) {
		if !slices.ContainsFunc(gated, func(m Metric) bool { return m.Name == f.Name }) {
			others = append(others, Metric{Figure: f})
		}
	}
	return others
}

// in returns the figure or, if some runs do not have it and all have the replacement, the replacement.
// It also returns the number of runs in which the returned figure is not known.
func (m Metric) in(runs []results.Run) (f figures.Figure, unknown int) {
	if unknown = without(m.Figure, runs); unknown > 0 && m.Instead != nil && without(*m.Instead, runs) == 0 {
		return *m.Instead, 0
	}
	return m.Figure, unknown
}

func without(f figures.Figure, runs []results.Run) (n int) {
	for _, r := range runs {
		if _, known := f.Of(r); !known {
			n++
		}
	}
	return n
}
