package compare

import (
	"fmt"
	"slices"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
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

// BrokenIdentities returns a warning with the number of a variant's runs in which an identity is broken, which
// should hold under any schedule. It returns nothing if there are no such runs.
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
