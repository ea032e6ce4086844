package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/results"
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
	case results.Better:
		return badge{"Better", "good", "▲"}
	case results.Inconclusive:
		return badge{"Inconclusive", "unsure", "≈"}
	case results.Invalid:
		return badge{"Invalid", "unsure", "?"}
	case results.Regression:
		return badge{"Regression", "bad", "▼"}
	case results.Failed:
		return badge{"Failed", "bad", "✕"}
	case results.Violated:
		return badge{"Violated", "bad", "✕"}
	}
	return badge{"No verdict", "none", "○"}
}

// A gate is a line about a threshold, with the measurement.
type gate struct {
	results.Answer
	Badge badge
}

// gates returns the lines about the thresholds, those that are not met first.
func gates(f results.File) (shown []gate) {
	for _, a := range f.Answers() {
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

// decided returns the verdict on the runs: a safety violation, the verdict of the file or, if it has none,
// a regression if an identity is broken.
func decided(f results.File) badge {
	if slices.ContainsFunc(f.Runs, func(r results.Run) bool { return r.Safety.Violations > 0 }) {
		return badgeOf(results.Violated)
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
		all = append(all, remark{badge{"none", "none", "○"}, "No thresholds were set, so nothing was passed or failed."})
	} else {
		_, said, _ := strings.Cut(f.Decision(), ": ") // the badge shows the word
		all = append(all, remark{badgeOf(f.Verdict), strings.ToUpper(said[:1]) + said[1:]})
	}
	if f.Interrupted {
		all = append(all, remark{unsure, "It was interrupted: the last run may be partial, and others are missing."})
	}
	var checked, violations int64
	for _, r := range f.Runs {
		checked, violations = checked+r.Safety.Checked, violations+r.Safety.Violations
	}
	switch {
	case violations > 0:
		all = append(all, remark{bad, fmt.Sprintf("A form broke its promise in %s of %s checks: its numbers are void.", results.Count(violations), results.Count(checked))})
	case checked > 0:
		all = append(all, remark{good, fmt.Sprintf("Every form kept its promise: %s checks of safety.", results.Count(checked))})
	}
	if hold, of := results.Holding(f.Runs); of > 0 && hold == of {
		all = append(all, remark{good, fmt.Sprintf("Counts relate as they must under any schedule, in %d of %d runs.", hold, of)})
	} else if of > 0 {
		all = append(all, remark{bad, fmt.Sprintf("Counts relate as they must in only %d of %d runs.", hold, of)})
	}
	for _, w := range warnings(f.Runs) {
		all = append(all, remark{unsure, w})
	}
	return all
}

// warnings returns the warnings of the runs, each once, with the forms that have it.
func warnings(runs []results.Run) (lines []string) {
	var texts []string
	of := map[string][]string{}
	for _, r := range runs {
		for _, w := range r.Warnings {
			text := w.Text
			if len(of[text]) == 0 {
				texts = append(texts, text)
			}
			of[text] = append(of[text], fmt.Sprintf("%s with %s clients", r.Form, results.Count(int64(r.Clients))))
		}
	}
	for _, text := range texts {
		who := of[text][0]
		if more := len(of[text]) - 1; more > 0 {
			who += fmt.Sprintf(" and %d more", more)
		}
		lines = append(lines, who+": "+text)
	}
	return lines
}
