package results

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Findings returns what the comparison shows, a sentence each.
func (c Comparison) Findings() []string { return c.findings("NEW") }

// findings returns the findings, with the given name for the new side.
func (c Comparison) findings(name string) []string {
	gated := slices.DeleteFunc(slices.Clone(c.Changes), func(x Change) bool { return !x.Gated })
	of := func(v Verdict) []Change {
		return slices.DeleteFunc(slices.Clone(gated), func(x Change) bool { return x.Verdict != v })
	}
	switch {
	case c.Interrupted:
		return []string{fmt.Sprintf("Interrupted: %d of %s went through, and nothing is decided.", c.pairs(), plural(c.Planned, "pair"))}
	case len(of(Violated)) > 0:
		return []string{"The numbers are void: " + of(Violated)[0].Why + "."}
	case len(gated) == 0:
		return []string{"Nothing was compared: the two sides have nothing in common."}
	case !c.Paired && !slices.ContainsFunc(gated, func(x Change) bool { return x.P != nil || x.Exact }):
		return []string{c.tooFew()}
	}
	var lines []string
	if c.Needed > 0 {
		lines = append(lines, c.tooFew())
	}
	say := func(v Verdict, format string) {
		if all := of(v); len(all) > 0 {
			lines = append(lines, fmt.Sprintf(format, c.inWords(all)))
		}
	}
	shown := c.shown()
	if all := of(Regression); len(all) > 0 {
		lines = append(lines, fmt.Sprintf("%s is worse: %s, shown in %s.", name, c.inWords(all), shown))
	}
	if all := of(Better); len(all) > 0 {
		lines = append(lines, fmt.Sprintf("%s is better: %s, shown in %s.", name, c.inWords(all), shown))
	}
	say(Invalid, "What was measured proves nothing of %s.")
	say(Inconclusive, "Neither a difference that matters nor its absence is shown of %s"+c.advice()+".")
	switch n := len(of(Pass)); {
	case n == len(gated):
		lines = append(lines, fmt.Sprintf("No difference is shown that matters (%s), in %s.", c.minima(gated), shown))
	case n > 0:
		lines = append(lines, fmt.Sprintf("No worse: %s.", c.inWords(of(Pass))))
	}
	return lines
}

// tooFew says that there are too few runs to decide anything, and how many are needed.
func (c Comparison) tooFew() string {
	runs := "One run on a side shows nothing"
	if min(len(c.Base.Runs), len(c.New.Runs)) > c.subjects() {
		runs = "So few runs show nothing"
	}
	figures := 0
	for _, x := range c.Changes {
		if x.Gated {
			figures++
		}
		if x.Gated && x.Exact {
			runs = "So few runs show nothing of figures that vary"
		}
	}
	return fmt.Sprintf("%s, whatever the numbers look like: it takes %d on each side for %s, or stampede ab, which interleaves runs.",
		runs, max(4, c.Needed), plural(figures, "figure"))
}

// pairs returns the number of complete pairs.
func (c Comparison) pairs() int { return min(len(c.Base.Runs), len(c.New.Runs)) / max(1, c.subjects()) }

func (c Comparison) subjects() int {
	var names []string
	for _, x := range c.Changes {
		if !slices.Contains(names, x.Subject) {
			names = append(names, x.Subject)
		}
	}
	return len(names)
}

// shown says how many observations the result is based on.
func (c Comparison) shown() string {
	switch {
	case c.Paired && c.Confirmation != nil:
		return fmt.Sprintf("%s and again in %d more", plural(c.Planned, "pair"), c.pairs()-c.Planned)
	case c.Paired:
		return plural(c.pairs(), "pair")
	}
	return "saved runs"
}

// advice says what could decide an inconclusive result.
func (c Comparison) advice() string {
	if c.Paired {
		return ": more pairs, or longer runs, may tell"
	}
	return ": more runs may tell, or stampede ab, which interleaves runs"
}

// mostInWords is the maximum number of changes that one sentence lists.
const mostInWords = 4

// inWords lists the changes, each with its subject if there are several subjects.
func (c Comparison) inWords(changes []Change) string {
	var words []string
	for _, x := range changes[:min(mostInWords, len(changes))] {
		word := x.inWords()
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

func (x Change) inWords() string {
	if x.Verdict != Regression && x.Verdict != Better {
		return x.Figure
	}
	if x.Effect == nil {
		return fmt.Sprintf("%s where there was none", x.Figure)
	}
	switch v := x.Effect.Value; {
	case v >= 1:
		return fmt.Sprintf("%s times the %s", Rate(1+v), x.Figure)
	case v > 0:
		return fmt.Sprintf("%.1f %% more %s", 100*v, x.Figure)
	default:
		return fmt.Sprintf("%.1f %% less %s", -100*v, x.Figure)
	}
}

// minima returns the smallest and the largest minimum effect.
func (c Comparison) minima(changes []Change) string {
	least, most := changes[0].Minimum, changes[0].Minimum
	for _, x := range changes {
		least, most = min(least, x.Minimum), max(most, x.Minimum)
	}
	if least == most {
		return "±" + shareOf(least)
	}
	return "±" + shareOf(least) + " to ±" + shareOf(most)
}

// shareOf formats a share with one decimal: "5.0 %".
func shareOf(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }

// byHowMuch formats a change with its sign: "+41.2 %", "−0.5 %"; from ten times the base up, it
// formats the factor: "× 35.2".
func byHowMuch(v float64) string {
	if v >= 9 {
		return "× " + Rate(1+v)
	}
	text := fmt.Sprintf("%+.1f %%", 100*v)
	if math.Abs(v) < 0.0005 {
		text = "0.0 %" // without a sign
	}
	return strings.Replace(text, "-", "−", 1)
}
