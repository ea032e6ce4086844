package compare

import (
	"slices"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figure"
	"github.com/stampede-bench/stampede/results/stats"
)

// A Figure is a figure that is compared.
type Figure struct {
	figure.Figure
	// Gated says that the figure counts for the verdict.
	Gated bool
	// Instead replaces the figure if a run has too few observations for it; nil if there is no
	// replacement.
	Instead *figure.Figure
}

// Default returns the gated figures of runs with the given phases: the throughput, the latency of the
// key phase, and the notifications per whole round.
func Default(phases []string) []Figure {
	var metrics []Figure
	for _, f := range figure.Known(phases, figure.Compared(phases)...) {
		m := Figure{Figure: f, Gated: true}
		if phase, tail := strings.CutSuffix(f.Name, ".p99"); tail {
			m.Instead = &figure.Known(phases, phase+".p90")[0]
		}
		metrics = append(metrics, m)
	}
	return metrics
}

// Others returns the figures of runs with the given phases that are not gated.
func Others(phases []string, gated []Figure) (others []Figure) {
	for _, f := range figure.All(phases) {
		if !slices.ContainsFunc(gated, func(m Figure) bool { return m.Name == f.Name }) {
			others = append(others, Figure{Figure: f})
		}
	}
	return others
}

// measuredIn returns the figure or, if some runs do not have it and all have the replacement, the
// replacement. It also returns the number of runs in which the returned figure is not known.
func (m Figure) measuredIn(runs []results.Run) (f figure.Figure, unknown int) {
	if unknown = countUnknown(m.Figure, runs); unknown > 0 && m.Instead != nil && countUnknown(*m.Instead, runs) == 0 {
		return *m.Instead, 0
	}
	return m.Figure, unknown
}

func countUnknown(f figure.Figure, runs []results.Run) (n int) {
	for _, r := range runs {
		if !f.Read(r).Known() {
			n++
		}
	}
	return n
}

// Quantiles returns the quantiles of each phase's latency in base and candidate, over the merged histograms
// of each variant's runs. It returns nil for subjects with enough runs for a test.
func Quantiles(s Subject) (all []results.Quantile) {
	if stats.Enough(len(s.Base), len(s.New), 1) {
		return nil
	}
	for _, phase := range s.Base[0].Phases {
		base, other := merged(s.Base, phase), merged(s.New, phase)
		if base == nil || other == nil {
			continue
		}
		for _, q := range []float64{0.5, 0.9, 0.99, 0.999} {
			if least := min(base.TotalCount(), other.TotalCount()); !metrics.Supports(least, 100*q) {
				continue
			}
			all = append(all, results.Quantile{Subject: s.Name, Phase: phase, Quantile: q,
				BaseNS: base.ValueAtQuantile(100 * q), NewNS: other.ValueAtQuantile(100 * q)})
		}
	}
	return all
}

// merged merges the runs' histograms of a phase: of response times, or of service times if there are no
// response times. It returns nil if a run has no readable histogram.
func merged(runs []results.Run, phase string) (all *hdrhistogram.Histogram) {
	for _, r := range runs {
		d := r.Latency[phase].Response
		if d == nil {
			d = r.Latency[phase].Service
		}
		if d == nil {
			return nil
		}
		h, err := hdrhistogram.Decode([]byte(d.HDR))
		if err != nil {
			return nil
		}
		if all == nil {
			all = h
		} else {
			all.Merge(h)
		}
	}
	return all
}
