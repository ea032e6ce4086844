package levels

import (
	"strconv"

	"github.com/stampede-bench/stampede/results"
)

// ValueAt returns the function that gives a run's value of the percentile.
func ValueAt(time func(results.Run) *results.Distribution, percentile float64) func(results.Run) (float64, bool) {
	return func(r results.Run) (float64, bool) {
		v, known := time(r).At(percentile)
		return float64(v), known
	}
}

// PercentileName formats the name of a percentile: "p50", "p99.9".
func PercentileName(p float64) string { return "p" + strconv.FormatFloat(p, 'f', -1, 64) }
