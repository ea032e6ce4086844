package compare

import (
	"fmt"
	"math"
	"strings"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/stats"
)

// Needed returns how many gated figures the saved runs are judged by together, and how many runs each
// variant needs to show a difference in one of them; 0 if there are enough. A count that turns out to be
// exact makes it easier for the other figures.
func Needed(subjects []Subject) (figures, runs int) {
	for _, s := range subjects {
		for _, m := range s.Metrics {
			if m.Gated {
				figures++
			}
		}
	}
	for _, s := range subjects {
		if !stats.CanShow(len(s.Base), len(s.New), figures) {
			return figures, stats.FewestRuns(figures)
		}
	}
	return figures, 0
}

// mostNamed is the maximum number of figures that a warning names.
const mostNamed = 4

// Underpowered warns about gated figures for which a true change by the minimum effect is shown in fewer
// than 80 % of such comparisons, and says how many observations that takes. It returns nil if there are
// no such figures.
func Underpowered(all []results.Change, observations int, unit string) []results.Warning {
	var named []string
	most, minimum := 0.0, 0.0
	for _, c := range all {
		if c.Gated && c.Power != nil && *c.Power < stats.Wanted {
			minimum = c.Minimum
			named = append(named, strings.TrimSpace(fmt.Sprintf("%s %s %.0f %%", c.Subject, c.Figure, 100**c.Power)))
			most = max(most, *c.Detectable/c.Minimum)
		}
	}
	if len(named) == 0 {
		return nil
	}
	if more := len(named) - mostNamed; more > 0 {
		named = append(named[:mostNamed], fmt.Sprintf("%d more", more))
	}
	w := metrics.Warning{Code: results.LowPower, Numbers: metrics.Numbers{"minimum_share": minimum, "power_share": stats.Wanted},
		Names: metrics.Names{"figures": strings.Join(named, ", ")}}
	if needed := math.Ceil(float64(observations) * most * most); needed < mostNeeded {
		w.Numbers["needed"], w.Names["unit"] = needed, unit
	}
	return []results.Warning{results.WarningOf(w)}
}

// mostNeeded is the number of observations from which on a warning names no number: it is too many to run.
const mostNeeded = 1000
