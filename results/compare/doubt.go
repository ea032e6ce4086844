package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figure"
	"github.com/stampede-bench/stampede/results/stats"
)

// Doubted returns a warning for each code of a doubt, with the number of runs that have it.
func Doubted(variant string, runs []results.Run) (warnings []results.Warning) {
	count, last, order := map[string]int{}, map[string]results.Warning{}, []string{}
	for _, r := range runs {
		for _, d := range r.Doubts {
			if count[d.Code] == 0 {
				order = append(order, d.Code)
			}
			count[d.Code]++
			last[d.Code] = d
		}
	}
	for _, code := range order {
		warnings = append(warnings, last[code].OfVariant(variant, count[code], len(runs)))
	}
	return warnings
}

// readings returns what the runs say about the figure, as far as they know it.
func readings(f figure.Figure, runs []results.Run) (all []figure.Reading) {
	for _, r := range runs {
		if is := f.Read(r); is.Known() {
			all = append(all, is)
		}
	}
	return all
}

// values returns the measured values.
func values(all []figure.Reading) (values []float64) {
	for _, r := range all {
		values = append(values, r.Value)
	}
	return values
}

// lowest returns the lowest values that the true ones can have. If only some are infinite, they count as the highest of the
// others, since no test has a size for them.
func lowest(all []figure.Reading) (values []float64) {
	most := math.Inf(-1)
	for _, r := range all {
		v := max(r.Low, 0) // the logarithm of 0 is as low as any
		values = append(values, v)
		if !math.IsInf(v, 1) {
			most = max(most, v)
		}
	}
	for i, v := range values {
		if math.IsInf(v, 1) && !math.IsInf(most, -1) {
			values[i] = most
		}
	}
	return values
}

// highest returns the highest values that the true ones can have.
func highest(all []figure.Reading) (values []float64) {
	for _, r := range all {
		values = append(values, max(r.High, 0))
	}
	return values
}

// claimed returns what the change is if the values prove it: a regression, an improvement, or "".
func (c *change) claimed() results.Verdict {
	switch {
	case c.better == figure.Neither:
	case c.Verdict == results.Regression || c.Verdict == results.Improvement:
		return c.Verdict
	case c.Verdict == "" && c.test.Value > 0:
		return results.Regression
	case c.Verdict == "" && c.test.Value < 0:
		return results.Improvement
	}
	return ""
}

// furthest returns the change if the true value of each run is at that end of its reading which is against the claim. It
// returns nil where nothing is claimed, or where such values do not even allow a test of it.
func (c *change) furthest(base, others []figure.Reading, weighed func(base, others []float64) change) *change {
	claim := c.claimed()
	if claim == "" {
		return nil
	}
	before, after := highest(base), lowest(others)
	raised := before
	if rises := (claim == results.Regression) == (c.better == figure.Less); !rises {
		before, after = lowest(base), highest(others)
		raised = after
	}
	if endless(raised) > 0 { // no change is larger than such a doubt
		return nil
	}
	least := weighed(before, after)
	if least.P == nil && least.Verdict != claim {
		return nil
	}
	return &least
}

// settle sets the verdict where too many runs are doubtful. A regression or an improvement stands if the change would be
// one too, whatever the doubts are worth: the given verdict is that of the values furthest against it. Nothing else can
// be said of such runs.
func (c *change) settle(furthest results.Verdict) {
	switch {
	case c.doubted == "":
	case c.against == nil || c.Verdict != furthest || c.Verdict != results.Regression && c.Verdict != results.Improvement:
		c.void(results.Invalid, c.doubted)
	default:
		c.Why = strings.TrimPrefix(c.Why+"; holds whatever the doubts are worth: "+c.doubted, "; ")
	}
}

// broken says in how many runs a form violated safety, "" if in none.
func broken(runs []results.Run) string {
	n := 0
	for _, r := range runs {
		if r.Safety.Violations > 0 {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("safety was violated in %d of %d runs", n, len(runs))
}

// BrokenIdentities returns a warning with the number of a variant's runs in which an identity is broken,
// which should hold under any schedule. It returns nothing if there are no such runs.
func BrokenIdentities(variant string, runs []results.Run) (warnings []results.Warning) {
	n, formula := 0, ""
	for _, r := range runs {
		if r.Cost.Expected == nil {
			continue
		}
		i := slices.IndexFunc(r.Cost.Expected.Identities, func(i results.Identity) bool { return !i.Holds })
		if i >= 0 {
			n, formula = n+1, r.Cost.Expected.Identities[i].Formula
		}
	}
	if n > 0 {
		warnings = append(warnings, results.WarningOf(metrics.Warning{Code: results.IdentityBroken, Names: metrics.Names{"side": variant, "formula": formula},
			Numbers: metrics.Numbers{"broken": float64(n), "runs": float64(len(runs))}}))
	}
	return warnings
}

// Needed returns how many runs each variant needs for its saved runs to show a difference in any of the figures that are
// tested together, 0 if there are enough.
func Needed(subjects []Subject) int {
	tested := 0
	for _, s := range subjects {
		for _, m := range s.Figures {
			runs := slices.Concat(s.Base, s.New)
			if f, _ := m.measuredIn(runs); m.Gated && slices.ContainsFunc(runs, func(r results.Run) bool { return !f.Exact(r) }) {
				tested++
			}
		}
	}
	for _, s := range subjects {
		if !stats.Enough(len(s.Base), len(s.New), tested) {
			return stats.FewestRuns(tested)
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
		figure := strings.TrimSpace(c.Subject + " " + c.Figure)
		named = append(named, fmt.Sprintf("%s %.1f %%", figure, 100**c.Detectable))
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
	w := metrics.Warning{Code: results.LowPower, Names: metrics.Names{"figures": strings.Join(named, ", ")},
		Numbers: metrics.Numbers{"minimum_share": minimum, "wanted_share": wanted * minimum, "power_share": stats.Wanted}}
	if needed = math.Ceil(needed); 0 < needed && needed < mostNeeded {
		w.Numbers["needed"] = needed
	}
	return []results.Warning{results.WarningOf(w)}
}

// mostNeeded is the number of pairs from which on a warning names no number: it is too many to run.
const mostNeeded = 1000
