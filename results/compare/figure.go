package compare

import (
	"cmp"
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
// of each variant's runs. Lost arrivals count as infinitely late. It returns nil for subjects with enough runs for a test.
func Quantiles(s Subject) (all []results.Quantile) {
	if stats.Enough(len(s.Base), len(s.New), 1) {
		return nil
	}
	for _, phase := range s.Base[0].Phases {
		base, readable := merge(s.Base, phase)
		other, also := merge(s.New, phase)
		if !readable || !also {
			continue
		}
		for _, q := range []float64{0.5, 0.9, 0.99, 0.999} {
			if !metrics.Supports(min(base.count(), other.count()), 100*q) {
				continue
			}
			row := results.Quantile{Subject: s.Name, Phase: phase, Quantile: q}
			row.BaseNS, row.BaseInfinite = base.percentile(100 * q)
			row.NewNS, row.NewInfinite = other.percentile(100 * q)
			all = append(all, row)
		}
	}
	return all
}

// A merged has the times of a phase in several runs: response times, or service times if there are no response times.
type merged struct {
	served *hdrhistogram.Histogram // nil if nothing was served
	lost   int64                   // arrivals that have no time
}

// merge merges the histograms of a phase. It returns false if a run has no readable one although it served something.
func merge(runs []results.Run, phase string) (all merged, readable bool) {
	for _, r := range runs {
		lost := figure.LostOf(phase, r)
		all.lost += lost
		d := cmp.Or(r.Latency[phase].Response, r.Latency[phase].Service)
		if d == nil && lost > 0 {
			continue
		}
		if d == nil {
			return all, false
		}
		h, err := hdrhistogram.Decode([]byte(d.HDR))
		switch {
		case err != nil:
			return all, false
		case all.served == nil:
			all.served = h
		default:
			all.served.Merge(h)
		}
	}
	return all, true
}

func (m merged) count() int64 {
	if m.served == nil {
		return m.lost
	}
	return m.served.TotalCount() + m.lost
}

// percentile returns a percentile for which there are enough observations.
func (m merged) percentile(p float64) (ns int64, infinite bool) {
	ns, finite := metrics.PercentileWith(m.served, m.lost, p)
	return ns, !finite
}
