package compare

import (
	"fmt"
	"slices"

	"github.com/stampede-bench/stampede/results"
)

// Regressed returns the gated figures with a regression, which is what a confirmation checks.
func Regressed(all []results.Change) []results.Change {
	return slices.DeleteFunc(slices.Clone(all), func(c results.Change) bool { return !c.Gated || c.Verdict != results.Regression })
}

// Confirm changes a regression to inconclusive if the second set of pairs, judged on its own, does not
// show it again.
func Confirm(first, again []results.Change) []results.Change {
	confirmed := slices.Clone(first)
	for i, c := range confirmed {
		at := slices.IndexFunc(again, func(a results.Change) bool { return a.Subject == c.Subject && a.Figure == c.Figure })
		if c.Verdict != results.Regression || at < 0 || again[at].Verdict == results.Regression {
			continue
		}
		confirmed[i].Verdict = results.Inconclusive
		confirmed[i].Why = fmt.Sprintf("not found again: %s", again[at].Verdict)
	}
	return confirmed
}
