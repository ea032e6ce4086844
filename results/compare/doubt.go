package compare

import (
	"fmt"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/metric"
)

// tolerated is the share of the runs that may be doubtful. The estimates are robust against some
// disturbed runs. Leaving those runs out instead would let the user choose what counts.
const tolerated = 0.2

// doubts says why the figure proves nothing if too many of the runs are doubtful, "" otherwise.
func doubts(f metric.Metric, runs []results.Run) string {
	n, why := 0, ""
	for _, r := range runs {
		if d, doubtful := f.Doubt(r); doubtful {
			n, why = n+1, d.Text
		}
	}
	if float64(n) <= tolerated*float64(len(runs)) {
		return ""
	}
	return fmt.Sprintf("%d of %d runs are doubtful: %s", n, len(runs), why)
}

// Doubted returns a warning for each code of a doubt, with the number of runs that have it.
func Doubted(variant string, runs []results.Run) (warnings []results.Warning) {
	count, last, order := map[string]int{}, map[string]results.Warning{}, []string{}
	for _, r := range runs {
		for _, d := range r.Doubted() {
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

// Unlawful returns a warning with the number of a variant's runs in which an identity is broken, which
// should hold under any schedule. It returns nothing if there are no such runs.
func Unlawful(variant string, runs []results.Run) (warnings []results.Warning) {
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

// mostApart is how far apart the windows of a pair of a duet may open, as a share of the window.
const mostApart = 0.1

// Apart warns about pairs of a duet whose windows opened too far apart. It returns nil if there are none.
func Apart(d results.Duet, window time.Duration) []results.Warning {
	limit := time.Duration(mostApart * float64(window))
	n, most := 0, time.Duration(0)
	for _, p := range d.Pairs {
		if p.ApartNS > limit {
			n, most = n+1, max(most, p.ApartNS)
		}
	}
	if n == 0 {
		return nil
	}
	return []results.Warning{results.WarningOf(metrics.Warning{Code: results.WindowsApart, Numbers: metrics.Numbers{
		"apart": float64(n), "pairs": float64(len(d.Pairs)), "limit_share": mostApart, "most_ns": float64(most)}})}
}
