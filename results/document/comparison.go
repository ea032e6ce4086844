package document

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/stats"
	"github.com/stampede-bench/stampede/results/units"
)

type comparison struct{ results.Comparison }

func ofComparison(c comparison) (d Document) {
	d.begin(c.Head)
	for _, r := range c.Runs() {
		d.service(r.Backend)
	}
	d.Heading, d.Verdict, d.Findings = c.heading(), c.Verdict, c.findings()
	if c.Interrupted {
		d.Interrupted, d.Findings = d.Findings[0], nil
	}
	suite := c.New.Label + " against " + c.Base.Label
	for _, x := range c.Changes {
		if x.Gated {
			d.Checks = append(d.Checks, c.check(suite, x))
		}
	}
	for _, v := range []struct {
		name string
		of   results.Variant
	}{{"base.", c.Base}, {"new.", c.New}} {
		if len(v.of.Runs) > 0 {
			d.set(suite, v.name, v.of.Runs[0])
		}
	}
	d.Tables = append(d.Tables, Table{Title: "variants", Columns: columns(0, "<variant", "<what it is"),
		Rows: [][]string{{"base", c.Base.Label}, {"candidate", c.New.Label}}, Leads: true})
	for _, of := range levels.Grouped(c.Changes, func(a, b results.Change) bool { return a.Subject == b.Subject }) {
		d.Tables = append(d.Tables, c.changes(cmp.Or(of[0].Subject, "figures"), of))
	}
	d.Tables = append(d.Tables, shown(c.changes("confirmation of regressions", c.Confirmation), c.means(), c.quantiles())...)
	d.Warnings = warningsFrom(c.Warnings)
	d.note(c.notes()...)
	return d
}

// check returns the check of a figure that decides.
func (c comparison) check(suite string, x results.Change) Check {
	check := Check{Suite: suite, Recipe: "comparison", Form: c.New.Label, Subject: x.Subject, About: x.Subject, Group: figures, Name: x.Figure,
		Verdict: cmp.Or(x.Verdict, results.Inconclusive), Why: x.Why, Measured: units.Absent, Limit: units.Limit(x.Minimum) + " worse"}
	if x.Effect != nil {
		check.Measured = byHowMuch(x.Effect.Value) + " " + changeInterval(*x.Effect)
	}
	return check
}

// heading names the command and the number of pairs in one line.
func (c comparison) heading() string {
	command := "stampede compare"
	if c.Paired {
		command = "stampede ab"
	}
	parts := []string{command}
	if c.Paired {
		parts = append(parts, c.length(), fmt.Sprintf("seed %d", c.Seed), c.Took.Round(time.Second).String())
	}
	return strings.Join(parts, " · ")
}

// length says how many pairs there are.
func (c comparison) length() string {
	if c.UntilSure == nil {
		return units.Plural(c.Planned, "pair")
	}
	return fmt.Sprintf("%d of at most %s", c.pairs(), units.Plural(c.Planned, "pair"))
}

// changes returns the table of changes, with the reasons of verdicts that do not follow from the numbers
// alone.
func (c comparison) changes(title string, of []results.Change) Table {
	t := Table{Title: title, Leads: true, Columns: columns(3, "<figure", "base", "candidate", "change", "95 % interval", "detectable", "<verdict")}
	verdicts := &t.Columns[6].Verdicts
	for _, x := range of {
		t.Rows = append(t.Rows, c.row(x))
		*verdicts = append(*verdicts, x.Verdict)
	}
	for _, alike := range levels.Grouped(of, func(a, b results.Change) bool { return a.Why == b.Why }) {
		var names []string
		for _, x := range alike {
			names = append(names, x.Figure)
		}
		if why := alike[0].Why; why != "" {
			t.Notes = append(t.Notes, strings.Join(names, ", ")+": "+why)
		}
	}
	return t
}

// row formats a change: the medians of base and candidate, the change and its interval, the smallest change
// that can be shown, and the verdict, in parentheses if the figure is not gated. In a comparison of saved
// files, the change is ~ if no difference is shown.
func (c comparison) row(x results.Change) []string {
	row := []string{x.Figure, units.Absent, units.Absent, units.Absent, units.Absent, units.Absent, string(x.Verdict)}
	if x.Known() {
		base, other := x.Medians()
		row[1], row[2] = units.Value(base, x.Unit), units.Value(other, x.Unit)
	}
	if x.Known() && x.Exact {
		row[1], row[2] = units.Apart(x.Base, x.New, x.Unit)
	}
	switch e := x.Effect; {
	case e != nil && !c.Paired && e.Low <= 0 && e.High >= 0:
		row[3], row[4] = "~", changeInterval(*e)
	case e != nil:
		row[3], row[4] = byHowMuch(e.Value), changeInterval(*e)
	case x.Exact && x.Base > 0:
		row[3] = byHowMuch(x.New/x.Base - 1)
	}
	if x.Exact {
		row[5] = "exact"
	} else if x.Detectable != nil {
		row[5] = units.Tenths(*x.Detectable)
	}
	if !x.Gated && x.Verdict != "" {
		row[6] = "(" + row[6] + ")"
	}
	return row
}

func changeInterval(e results.Estimate) string {
	return "[" + byHowMuch(e.Low) + ", " + byHowMuch(e.High) + "]"
}

// means returns the table of the geometric means.
func (c comparison) means() Table {
	t := Table{Title: "geometric means", Columns: columns(3, "<figure", "change", "over")}
	for _, m := range c.Means {
		t.Rows = append(t.Rows, []string{m.Figure, byHowMuch(m.Change), units.Plural(m.Subjects, "row")})
	}
	return t
}

func (c comparison) quantiles() Table {
	t := Table{Title: "histograms", Columns: columns(3, "<phase", "quantile", "base", "candidate", "difference", "change")}
	for _, q := range c.Quantiles {
		base, other, difference, change := duration(q.BaseNS), duration(q.NewNS), units.Absent, units.Absent
		if q.BaseInfinite {
			base = units.Infinite
		}
		if q.NewInfinite {
			other = units.Infinite
		}
		if !q.BaseInfinite && !q.NewInfinite {
			difference = duration(q.NewNS - q.BaseNS)
			if q.BaseNS > 0 {
				change = byHowMuch(float64(q.NewNS)/float64(q.BaseNS) - 1)
			}
		}
		t.Rows = append(t.Rows, []string{strings.TrimPrefix(q.Subject+", "+q.Phase, ", "), fmt.Sprintf("p%v", 100*q.Quantile), base, other, difference, change})
	}
	return t
}

// notes says how the verdicts were reached.
func (c comparison) notes() (lines []string) {
	var gated []results.Change
	tested, exact := 0, 0
	for _, x := range c.Changes {
		switch {
		case !x.Gated:
			continue
		case x.Exact:
			exact++
		case x.P != nil:
			tested++
		}
		gated = append(gated, x)
	}
	if len(gated) > 0 {
		lines = append(lines, "minimum effect: "+c.minima(gated))
	}
	lines = append(lines, c.otherChange()...)
	if tested > 0 && (c.Base.StartedOnce || c.New.StartedOnce) {
		lines = append(lines, "one start: each service was started once for all pairs: what differs from one start of it to the next is in no interval")
	}
	if tested > 0 {
		lines = append(lines, "detectable: the smallest true change for the worse that such a comparison detects in about 80 % of cases")
	}
	if tested > 1 {
		lines = append(lines, fmt.Sprintf("verdicts have Holm's correction over the %d figures that were tested; each interval is of its figure alone", tested))
	}
	if u := c.UntilSure; u != nil {
		lines = append(lines, c.looked(*u))
	}
	if exact > 0 {
		lines = append(lines, "exact: counts that a formula fixes, compared by value")
	}
	if len(gated) < len(c.Changes) {
		lines = append(lines, "in parentheses: shown, not judged")
	}
	if c.Calibrated != "" {
		lines = append(lines, "noise: "+c.Calibrated)
	}
	return lines
}

// otherChange explains why the change of a paired comparison differs from that of the two medians
// beside it, with the figure in which they differ most.
func (c comparison) otherChange() []string {
	var most results.Change
	apart := 0.0
	for _, x := range c.Changes {
		if !c.Paired || x.Effect == nil || x.Base <= 0 {
			continue
		}
		medians := x.New/x.Base - 1
		if d := math.Abs(x.Effect.Value - medians); d > apart && byHowMuch(x.Effect.Value) != byHowMuch(medians) {
			most, apart = x, d
		}
	}
	if apart == 0 {
		return nil
	}
	return []string{fmt.Sprintf("change: estimated within pairs; base and candidate are medians over all of their runs, whose change can differ: of %s it is %s",
		most.Figure, byHowMuch(most.New/most.Base-1))}
}

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
	}
	var lines []string
	few := slices.DeleteFunc(slices.Clone(gated), func(x results.Change) bool { return !lacksRuns(x) })
	if len(few) > 0 {
		lines = append(lines, c.tooFew(few))
	}
	say := func(v results.Verdict, format string) {
		if all := slices.DeleteFunc(of(v), lacksRuns); len(all) > 0 {
			words := c.inWords(all)
			if decided := v == results.Regression || v == results.Improvement; decided && len(all) > 1 {
				words = c.inWords(all[:1]) + ", and " + units.Plural(len(all)-1, "other figure") // the table has them
			}
			lines = append(lines, fmt.Sprintf(format, words))
		}
	}
	shown := c.shown()
	say(results.Regression, "REGRESSION: the candidate is worse: %s, shown in "+shown+".")
	say(results.Improvement, "IMPROVEMENT: the candidate is better: %s, shown in "+shown+".")
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

// lacksRuns reports whether nothing but the number of saved runs leaves the change undecided.
func lacksRuns(x results.Change) bool {
	return x.Verdict == results.Inconclusive && x.P == nil && x.Why == ""
}

// tooFew says that there are too few runs to decide some changes, and how many are needed.
func (c comparison) tooFew(changes []results.Change) string {
	runs := "One run of base and candidate each is not enough"
	if min(len(c.Base.Runs), len(c.New.Runs)) > c.subjects() {
		runs = "Too few runs"
	}
	if slices.ContainsFunc(c.Changes, func(x results.Change) bool { return x.Gated && x.Exact }) {
		runs = "Too few runs for metrics that vary"
	}
	return fmt.Sprintf("%s: %d of each are needed for %s, or use stampede ab, which interleaves runs.",
		runs, c.Needed, units.Plural(len(changes), "metric"))
}

// observed reports whether observations were compared, which have no runs.
func (c comparison) observed() bool {
	return len(c.Changes) > 0 && len(c.Base.Runs)+len(c.New.Runs) == 0
}

// pairs returns the number of complete pairs of each subject. Before anything is judged, the subjects are
// known by their numbers of clients.
func (c comparison) pairs() int {
	clients := levels.Grouped(c.Base.Runs, func(a, b results.Run) bool { return a.Clients == b.Clients })
	return min(len(c.Base.Runs), len(c.New.Runs)) / max(1, c.subjects(), len(clients))
}

// looked says when a sequential comparison was judged, and why it ended.
func (c comparison) looked(u results.UntilSure) string {
	why := map[results.Ended]string{results.EndedDecided: "when the verdict was certain", results.EndedPairs: "when all pairs were run",
		results.EndedTime: "at the time limit"}[u.Ended]
	return fmt.Sprintf("judged after %s pairs, ended %s; each look has %.3g %% confidence, so all looks together have 95 %%",
		units.Numbers(u.JudgedAfter(c.pairs())), why, 100*stats.Strict(len(u.Looks)))
}

func (c comparison) subjects() int {
	return len(levels.Grouped(c.Changes, func(a, b results.Change) bool { return a.Subject == b.Subject }))
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
	switch {
	case x.NewInfinite:
		return x.Figure + " infinite"
	case x.BaseInfinite:
		return x.Figure + " no longer infinite"
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
		return "±" + units.Limit(least)
	}
	return "±" + units.Limit(least) + " to ±" + units.Limit(most)
}

// byHowMuch formats a change with its sign: "+41.2 %", "−0.5 %"; from ten times the base up, it
// formats the factor: "× 35.2".
func byHowMuch(v float64) string {
	if v >= 9 {
		return "× " + units.Rate(1+v)
	}
	if math.Abs(v) < 0.0005 {
		return "0.0 %" // without a sign
	}
	return signed("%+.1f %%", 100*v)
}
