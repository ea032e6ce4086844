package changes

import (
	"fmt"
	"slices"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figures"
)

// tolerated is the share of the runs that may be doubtful. The estimates are robust against some
// disturbed runs. Leaving those runs out instead would let the user choose what counts.
const tolerated = 0.2

// doubts says why the figure proves nothing if too many of the runs are doubtful, "" otherwise.
func doubts(f figures.Figure, runs []results.Run) string {
	n, why := 0, ""
	for _, r := range runs {
		if d := doubt(f, r); d != "" {
			n, why = n+1, d
		}
	}
	if float64(n) <= tolerated*float64(len(runs)) {
		return ""
	}
	return fmt.Sprintf("%d of %d runs are doubtful: %s", n, len(runs), why)
}

// doubt returns the first reason to doubt the figure in the run, "" if there is none. The traffic of a
// round does not depend on the clock, so only abandoned rounds make it doubtful.
func doubt(f figures.Figure, r results.Run) string {
	for _, d := range r.Doubted() {
		if f.Timed || d.Code == metrics.Abandoned {
			return d.Text
		}
	}
	return ""
}

// Doubted returns a warning for each code of a doubt, with the number of runs that have it.
func Doubted(side string, runs []results.Run) (warnings []results.Warning) {
	count, last, order := map[string]int{}, map[string]string{}, []string{}
	for _, r := range runs {
		for _, d := range r.Doubted() {
			if count[d.Code] == 0 {
				order = append(order, d.Code)
			}
			count[d.Code]++
			last[d.Code] = d.Text
		}
	}
	for _, code := range order {
		warnings = append(warnings, results.Warn(code, "%s: %d of %d runs: %s", side, count[code], len(runs), last[code]))
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
	return fmt.Sprintf("the form broke its promise in %d of %d runs", n, len(runs))
}

// Unlawful returns a warning with the number of a side's runs in which an identity is broken, which
// should hold under any schedule. It returns nothing if there are no such runs.
func Unlawful(side string, runs []results.Run) (warnings []results.Warning) {
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
		warnings = append(warnings, results.Warn(results.IdentityBroken, "%s: IDENTITY BROKEN in %d of %d runs: %s", side, n, len(runs), formula))
	}
	return warnings
}
