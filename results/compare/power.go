package compare

import (
	"fmt"
	"math"
	"strings"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/stats"
)

// Needed returns how many runs each variant needs for its saved runs to show a difference, 0 if there are
// enough.
func Needed(subjects []Subject) int {
	for _, s := range subjects {
		if min(len(s.Base), len(s.New)) < stats.FewestRuns {
			return stats.FewestRuns
		}
	}
	return 0
}

// mostNamed is the maximum number of figures that a warning names.
const mostNamed = 4

// wanted is the change that a comparison should detect, in minimum effects. A change of the minimum effect
// itself is found in at most about half of the comparisons, however many pairs they have: the estimate must
// reach it.
const wanted = 2

// Underpowered warns about gated figures for which a true change of twice the minimum effect is found in
// fewer than 80 % of such comparisons, and says how many pairs that takes; pairs is 0 if there are none. It
// returns nil if there are no such figures.
func Underpowered(all []results.Change, pairs int) []results.Warning {
	var named []string
	needed, minimum := 0.0, 0.0
	for _, c := range all {
		if !c.Gated || c.Detectable == nil || c.Minimum == 0 || *c.Detectable <= wanted*c.Minimum {
			continue
		}
		minimum = c.Minimum
		named = append(named, strings.TrimSpace(fmt.Sprintf("%s %s %.1f %%", c.Subject, c.Figure, 100**c.Detectable)))
		// Where the estimate of a change this large is shown, it also reaches the minimum effect: what is
		// detectable falls with the square root of the number of pairs.
		needed = max(needed, float64(pairs)*math.Pow(*c.Detectable/(wanted*c.Minimum), 2))
		if c.Floor >= wanted*c.Minimum {
			needed = math.Inf(1)
		}
	}
	if len(named) == 0 {
		return nil
	}
	if more := len(named) - mostNamed; more > 0 {
		named = append(named[:mostNamed], fmt.Sprintf("%d more", more))
	}
	w := metrics.Warning{Code: results.LowPower, Numbers: metrics.Numbers{"minimum_share": minimum, "wanted_share": wanted * minimum, "power_share": stats.Wanted},
		Names: metrics.Names{"figures": strings.Join(named, ", ")}}
	if needed = math.Ceil(needed); 0 < needed && needed < mostNeeded {
		w.Numbers["needed"], w.Names["unit"] = needed, "pairs"
	}
	return []results.Warning{results.WarningOf(w)}
}

// mostNeeded is the number of pairs from which on a warning names no number: it is too many to run.
const mostNeeded = 1000
