// Package incident says in sentences whether runs show the symptom of the incident that their scenario file
// is about, and whether its fixed form avoids it.
package incident

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figure"
	"github.com/stampede-bench/stampede/results/units"
)

// Findings says whether the symptom shows, and what was reported. There are none if the file has no incident, if its
// symptom was not judged, or if a form violated safety, which says more, unless that is the symptom.
func Findings(f results.File) []string {
	if f.Incident == nil {
		return nil
	}
	symptom, fixed := judged(f, results.SymptomScenario), judged(f, results.FixedScenario)
	if symptom == nil || fixed == nil || results.Unsafe(f.Runs) && symptom.Figure != figure.Violations {
		return nil
	}
	return append(say(*f.Incident, *symptom, *fixed), "Reported: "+f.Incident.Reported+". "+f.Incident.Source)
}

// judged returns the verdict on the symptom in the runs of a scenario: the worst if there are several.
func judged(f results.File, scenario string) (worst *results.Gate) {
	of := func(g results.Gate) bool { return g.Scenario == scenario }
	first := slices.IndexFunc(f.Gates, of) // the symptom comes before the file's own thresholds
	if first < 0 {
		return nil
	}
	for _, g := range f.Gates {
		if of(g) && g.Text == f.Gates[first].Text && (worst == nil || results.Worst(worst.Verdict, g.Verdict) != worst.Verdict) {
			worst = &g
		}
	}
	return worst
}

// say says whether the symptom shows, and where it should not.
func say(i results.Incident, symptom, fixed results.Gate) (lines []string) {
	clause := func(g results.Gate) string { return strings.ReplaceAll(i.Shows, "{}", measured(g)) }
	switch {
	case undecided(symptom):
		lines = append(lines, "Whether the symptom shows is not decided: "+symptom.Why+".")
	case symptom.Verdict != results.Pass:
		lines = append(lines, fmt.Sprintf("The symptom does not show: %s.", clause(symptom)))
	}
	switch {
	case undecided(fixed):
		return append(lines, "Whether the fixed form avoids it is not decided: "+fixed.Why+".")
	case fixed.Verdict != results.Pass:
		return append(lines, fmt.Sprintf("The fixed form shows it too: %s.", clause(fixed)))
	case lines != nil:
		return append(lines, fmt.Sprintf("In the fixed form: %s.", measured(fixed)))
	}
	return []string{fmt.Sprintf("The symptom shows: %s. In the fixed form: %s; %s.", clause(symptom), measured(fixed), i.Fixed)}
}

func undecided(g results.Gate) bool {
	return g.Verdict == results.Invalid || g.Verdict == results.Inconclusive
}

// measured formats what was measured.
func measured(g results.Gate) string {
	switch {
	case g.MeasuredInfinite:
		return units.Infinite
	case g.Measured == nil:
		return units.Absent
	}
	return figure.Figure{Unit: figure.Unit(g.Unit)}.Format(*g.Measured)
}
