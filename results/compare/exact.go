package compare

import (
	"slices"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figure"
)

// compareExactly decides a figure that a formula fixes by its values, without a test: one run of each side is
// enough. It is a regression if each run of the candidate is worse than each run of the base by the minimum
// effect, and a pass if no run of the candidate is worse than any run of the base by that much. Such a figure
// leaves the set of figures that are tested together, so it does not make their differences harder to show.
func (c *change) compareExactly(base, others []float64) {
	least, most := slices.Min(others), slices.Max(others)
	from, to := slices.Min(base), slices.Max(base)
	var worse, within, better bool
	if c.better == figure.More {
		limit := 1 - min(c.Minimum, 1)
		worse, within, better = most < from && most <= from*limit, least >= to || least > to*limit, least > to
	} else {
		limit := 1 + c.Minimum
		worse, within, better = least > to && least >= to*limit, most <= from || most < from*limit, most < from
	}
	switch {
	case worse:
		c.Verdict = results.Regression
	case within && better:
		c.Verdict = results.Improvement
	case within:
		c.Verdict = results.Pass
	default:
		c.Verdict = results.Inconclusive
	}
	c.Exact, c.P, c.Why = true, nil, ""
}
