package changes

import (
	"slices"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figures"
)

// A Metric is a figure that two sides are compared by.
type Metric struct {
	figures.Figure
	// Gated: it counts for the verdict.
	Gated bool
	// Instead is taken where a run has too few observations for the figure; nil
	// for none.
	Instead *figures.Figure
}

// telling are the phases in which a herd or a slow service shows most, of all
// recipes.
func telling() []string {
	return []string{"handoff", "failover", "converge", "pass", "enter", "decide", "read", "back", "last"}
}

// Default are the gated metrics of runs with such phases: how much is done, how
// long the telling phase takes, and how many are woken.
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

// mustParse is for names that are ours.
func mustParse(name string, phases []string) figures.Figure {
	f, err := figures.Parse(name, phases)
	if err != nil {
		panic(err)
	}
	return f
}

// Others are the metrics of runs with such phases that are not among the gated.
func Others(phases []string, gated []Metric) (others []Metric) {
	for _, f := range figures.All(phases) {
		if !slices.ContainsFunc(gated, func(m Metric) bool { return m.Name == f.Name }) {
			others = append(others, Metric{Figure: f})
		}
	}
	return others
}

// in is the figure that all of the runs have, and in how many of them it is not
// known if there is none.
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
