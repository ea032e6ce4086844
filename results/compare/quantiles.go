package compare

import (
	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/stats"
)

// Quantiles returns the quantiles of each phase's latency in base and candidate, over the merged histograms of
// each variant's runs. It returns nil for subjects with enough runs for a test.
func Quantiles(s Subject) (all []results.Quantile) {
	if min(len(s.Base), len(s.New)) >= stats.FewestRuns {
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
