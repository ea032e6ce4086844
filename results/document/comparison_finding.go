package document

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/stats"
	"github.com/stampede-bench/stampede/results/units"
)

// findings returns what the comparison shows, a sentence each.
func (c comparison) findings() []string {
	gated := slices.DeleteFunc(slices.Clone(c.Changes), func(x results.Change) bool { return !x.Gated })
	of := func(v results.Verdict) []results.Change {
		return slices.DeleteFunc(slices.Clone(gated), func(x results.Change) bool { return x.Verdict != v })
	}
	switch {
	case c.Interrupted:
		return []string{fmt.Sprintf("Interrupted: %d of %s completed; there is no verdict.", c.pairs(), units.Plural(c.Planned, "pair"))}
	case len(of(results.Fail)) > 0:
		return []string{"The numbers are void: " + of(results.Fail)[0].Why + "."}
	case len(gated) == 0:
		return []string{"Nothing was compared: base and candidate have nothing in common."}
	case !c.Paired && !c.observed() && !slices.ContainsFunc(gated, func(x results.Change) bool { return x.P != nil || x.Exact }):
		return []string{c.tooFew()}
	}
	var lines []string
	if c.Needed > 0 && !c.observed() {
		lines = append(lines, c.tooFew())
	}
	say := func(v results.Verdict, format string) {
		if all := of(v); len(all) > 0 {
			lines = append(lines, fmt.Sprintf(format, c.inWords(all)))
		}
	}
	shown := c.shown()
	say(results.Regression, "The candidate is worse: %s, shown in "+shown+".")
	say(results.Improvement, "The candidate is better: %s, shown in "+shown+".")
	say(results.Invalid, "Invalid: %s.")
	say(results.Inconclusive, "Inconclusive: %s"+c.advice()+".")
	switch n := len(of(results.Pass)); {
	case n == len(gated):
		lines = append(lines, fmt.Sprintf("No difference of %s or more is shown in %s.", c.minima(gated), shown))
	case n > 0:
		lines = append(lines, fmt.Sprintf("No worse: %s.", c.inWords(of(results.Pass))))
	}
	return lines
}

// tooFew says that there are too few runs to decide anything, and how many are needed.
func (c comparison) tooFew() string {
	runs := "One run of base and candidate each is not enough"
	if min(len(c.Base.Runs), len(c.New.Runs)) > c.subjects() {
		runs = "Too few runs"
	}
	figures := 0
	for _, x := range c.Changes {
		if x.Gated {
			figures++
		}
		if x.Gated && x.Exact {
			runs = "Too few runs for metrics that vary"
		}
	}
	return fmt.Sprintf("%s: %d of each are needed for %s, or use stampede ab, which interleaves runs.",
		runs, max(4, c.Needed), units.Plural(figures, "metric"))
}

// observed reports whether observations were compared, which have no runs.
func (c comparison) observed() bool {
	return len(c.Changes) > 0 && len(c.Base.Runs)+len(c.New.Runs) == 0
}

// pairs returns the number of complete pairs of each subject. Before anything is judged, the subjects are
// known by their numbers of clients.
func (c comparison) pairs() int {
	var clients []int
	for _, r := range c.Base.Runs {
		if !slices.Contains(clients, r.Clients) {
			clients = append(clients, r.Clients)
		}
	}
	return min(len(c.Base.Runs), len(c.New.Runs)) / max(1, c.subjects(), len(clients))
}

// looked says when a sequential comparison was judged, and why it ended.
func (c comparison) looked(u results.UntilSure) string {
	why := map[results.Ended]string{results.EndedDecided: "ended when the verdict was certain", results.EndedPairs: "ended when all pairs were run",
		results.EndedTime: "ended at the time limit"}[u.Ended]
	return fmt.Sprintf("judged after %s pairs, %s; each look has %.3g %% confidence, so all looks together have 95 %%",
		units.Numbers(u.Until(c.pairs())), why, 100*stats.Strict(len(u.Looks)))
}

func (c comparison) subjects() int {
	var names []string
	for _, x := range c.Changes {
		if !slices.Contains(names, x.Subject) {
			names = append(names, x.Subject)
		}
	}
	return len(names)
}

// shown says how many observations the result is based on.
func (c comparison) shown() string {
	switch {
	case c.Paired && c.Confirmation != nil:
		return fmt.Sprintf("%s and again in %d more", units.Plural(c.Planned, "pair"), c.pairs()-c.Planned)
	case c.Paired:
		return units.Plural(c.pairs(), "pair")
	case c.observed():
		return "saved observations"
	}
	return "saved runs"
}

// advice says what could decide an inconclusive result.
func (c comparison) advice() string {
	if c.Paired {
		return " (more pairs or longer runs may decide)"
	}
	if c.observed() {
		return " (more observations may decide)"
	}
	return " (more runs may decide, or stampede ab, which interleaves runs)"
}

// mostInWords is the maximum number of changes that one sentence lists.
const mostInWords = 4

// inWords lists the changes, each with its subject if there are several subjects.
func (c comparison) inWords(changes []results.Change) string {
	var words []string
	for _, x := range changes[:min(mostInWords, len(changes))] {
		word := changeInWords(x)
		if c.subjects() > 1 {
			word += " (" + x.Subject + ")"
		}
		words = append(words, word)
	}
	if left := len(changes) - len(words); left > 0 {
		return strings.Join(words, ", ") + fmt.Sprintf(" and %d more", left)
	}
	return strings.Join(words, ", ")
}

func changeInWords(x results.Change) string {
	if x.Verdict != results.Regression && x.Verdict != results.Improvement {
		return x.Figure
	}
	if x.Effect == nil && x.Base > 0 {
		return x.Figure + " " + byHowMuch(x.New/x.Base-1)
	}
	if x.Effect == nil {
		return fmt.Sprintf("%s, absent in the base", x.Figure)
	}
	return x.Figure + " " + byHowMuch(x.Effect.Value)
}

// minima returns the smallest and the largest minimum effect.
func (c comparison) minima(changes []results.Change) string {
	least, most := changes[0].Minimum, changes[0].Minimum
	for _, x := range changes {
		least, most = min(least, x.Minimum), max(most, x.Minimum)
	}
	if least == most {
		return "±" + units.Tenths(least)
	}
	return "±" + units.Tenths(least) + " to ±" + units.Tenths(most)
}

// byHowMuch formats a change with its sign: "+41.2 %", "−0.5 %"; from ten times the base up, it
// formats the factor: "× 35.2".
func byHowMuch(v float64) string {
	if v >= 9 {
		return "× " + units.Rate(1+v)
	}
	text := fmt.Sprintf("%+.1f %%", 100*v)
	if math.Abs(v) < 0.0005 {
		text = "0.0 %" // without a sign
	}
	return strings.Replace(text, "-", "−", 1)
}
