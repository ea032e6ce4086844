package changes

import (
	"slices"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figures"
)

// compareExactly decides a count by its values, without a test: as a regression where
// each run of the new side is worse than each of the base by the minimum effect, and as
// no worse where none is. Such a count leaves the figures that are tested together, so
// that it does not make a difference of theirs harder to show. A count that varies more
// than that from run to run is tested as times are.
func (c *change) compareExactly(base, others []float64) {
	least, most := slices.Min(others), slices.Max(others)
	from, to := slices.Min(base), slices.Max(base)
	var worse, within, better bool
	if c.better == figures.More {
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
		c.Verdict = results.Better
	case within:
		c.Verdict = results.Pass
	default:
		return
	}
	c.Exact, c.P = true, nil
}
