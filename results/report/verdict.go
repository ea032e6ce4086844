package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/units"
	"github.com/stampede-bench/stampede/results/view"
)

// A badge is how a report shows a verdict: a word, and a sign whose shape repeats what its colour says.
type badge struct {
	Word string
	Kind string // "good", "bad", "unsure", "none": the class of its style
	Sign string
}

func badgeOf(v results.Verdict) badge {
	switch v {
	case results.Pass:
		return badge{"Pass", "good", "✓"}
	case results.Improvement:
		return badge{"Improvement", "good", "▲"}
	case results.Inconclusive:
		return badge{"Inconclusive", "unsure", "≈"}
	case results.Invalid:
		return badge{"Invalid", "unsure", "?"}
	case results.Regression:
		return badge{"Regression", "bad", "▼"}
	case results.Fail:
		return badge{"Fail", "bad", "✕"}
	}
	return badge{"No verdict", "none", "○"}
}

// A gate is a line about a threshold, with the measurement.
type gate struct {
	view.Answer
	Badge badge
}

// gates returns the lines about the thresholds, those that are not met first.
func gates(f results.File) (shown []gate) {
	for _, a := range view.Answers(f) {
		g := gate{Answer: a}
		if a.Verdict != "" { // a line that counts the other runs has no verdict
			g.Badge = badgeOf(a.Verdict)
		}
		shown = append(shown, g)
	}
	met := func(g gate) int {
		if g.Verdict == results.Pass {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(shown, func(a, b gate) int { return cmp.Compare(met(a), met(b)) })
	return shown
}

// decided returns the verdict on the runs: fail after a safety violation, the verdict of the file or, if it has none,
// a regression if an identity is broken.
func decided(f results.File) badge {
	if results.Unsafe(f.Runs) {
		return badgeOf(results.Fail)
	}
	if hold, of := results.Holding(f.Runs); f.Verdict == "" && hold < of {
		return badgeOf(results.Regression)
	}
	return badgeOf(f.Verdict)
}

// trust returns the remarks about safety, counts and warnings that tell whether to trust the numbers.
func trust(f results.File) (all []remark) {
	good, bad, unsure := badge{"holds", "good", "✓"}, badge{"broken", "bad", "✕"}, badge{"mind", "unsure", "!"}
	if len(f.Gates) == 0 {
		all = append(all, remark{badge{"none", "none", "○"}, "No thresholds were set, so there is no verdict."})
	} else {
		reason := view.Reason(f)
		all = append(all, remark{badgeOf(f.Verdict), strings.ToUpper(reason[:1]) + reason[1:]})
	}
	if f.Interrupted {
		all = append(all, remark{unsure, "The command was interrupted: the last run may be incomplete, and further runs are missing."})
	}
	var checked, violations int64
	for _, r := range f.Runs {
		checked, violations = checked+r.Safety.Checked, violations+r.Safety.Violations
	}
	switch {
	case violations > 0:
		all = append(all, remark{bad, fmt.Sprintf("%s in %s checks: the figures of these runs are void.", units.Plural(int(violations), "safety violation"), units.Count(checked))})
	case checked > 0:
		all = append(all, remark{good, fmt.Sprintf("No safety violation in %s checks.", units.Count(checked))})
	}
	if hold, of := results.Holding(f.Runs); of > 0 && hold == of {
		all = append(all, remark{good, fmt.Sprintf("The identities between counts hold in %d of %d runs.", hold, of)})
	} else if of > 0 {
		all = append(all, remark{bad, fmt.Sprintf("The identities between counts hold in only %d of %d runs.", hold, of)})
	}
	for _, w := range warnings(f.Runs) {
		all = append(all, remark{unsure, w})
	}
	return all
}

// warnings returns a line for each kind of warning: the first warning of the kind, and the number of runs
// that have one too. All warnings stand below the tables.
func warnings(runs []results.Run) (lines []string) {
	var kinds []string
	first, others := map[string]string{}, map[string]int{}
	for _, r := range runs {
		for _, w := range r.Warnings {
			kind := cmp.Or(w.Code, w.Text) + w.Agent() // files of older versions have no codes
			if _, known := first[kind]; known {
				others[kind]++
				continue
			}
			kinds = append(kinds, kind)
			first[kind] = fmt.Sprintf("%s with %s: %s", r.Form, units.Clients(r.Clients), w.Text)
		}
	}
	for _, kind := range kinds {
		line := first[kind]
		if n := others[kind]; n > 0 {
			line += fmt.Sprintf(" (and %s more)", units.Plural(n, "run"))
		}
		lines = append(lines, line)
	}
	return lines
}
