package document

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/units"
)

// A comparison words a result; its methods decide nothing.
type comparison struct{ results.Comparison }

func ofComparison(c comparison) (d Document) {
	d.measuredOn(c.ID, c.Started, c.Took, c.Seed, c.Tool, c.Host)
	var backends []results.Backend
	for _, r := range c.Runs() {
		backends = append(backends, r.Backend)
	}
	d.measuredWith(backends)
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
	for _, of := range grouped(c.Changes, func(a, b results.Change) bool { return a.Subject == b.Subject }) {
		d.Tables = append(d.Tables, c.changes(cmp.Or(of[0].Subject, "figures"), of))
	}
	d.Tables = append(d.Tables, shown(c.changes("confirmation of regressions", c.Confirmation), c.means(), c.quantiles())...)
	d.Warnings = warningsFrom(c.Warnings)
	d.note(c.notes()...)
	d.Command = CommandLine(c.Command)
	return d
}

// check returns the check of a figure that decides.
func (c comparison) check(suite string, x results.Change) Check {
	check := Check{Suite: suite, Recipe: "comparison", Form: c.New.Label, Subject: x.Subject, About: x.Subject, Group: figures, Name: x.Figure,
		Verdict: cmp.Or(x.Verdict, results.Inconclusive), Why: x.Why, Measured: units.Absent, Limit: units.Tenths(x.Minimum) + " worse"}
	if x.Effect != nil {
		check.Measured = byHowMuch(x.Effect.Value) + " " + changeInterval(x)
	}
	return check
}

// heading names the command and the number of pairs in one line.
func (c comparison) heading() string {
	command := "stampede compare"
	if c.Paired {
		command = "stampede ab"
	}
	if c.Duet != nil {
		command += " --duet"
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

// changes returns the table of changes, with the reasons of verdicts that do not follow from the numbers alone.
func (c comparison) changes(title string, of []results.Change) Table {
	t := Table{Title: title, Leads: true, Columns: columns(3, "<figure", "base", "candidate", "change", "95 % interval", "detectable", "<verdict")}
	verdicts := &t.Columns[6].Verdicts
	for _, x := range of {
		base, other := medians(x)
		t.Rows = append(t.Rows, []string{x.Figure, base, other, c.change(x), changeInterval(x), detectable(x), changeVerdict(x)})
		*verdicts = append(*verdicts, x.Verdict)
	}
	for _, alike := range grouped(of, func(a, b results.Change) bool { return a.Why == b.Why }) {
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

// medians returns the medians of base and candidate with their unit, or n/a if there are none.
func medians(x results.Change) (base, other string) {
	if !x.Known() {
		return units.Absent, units.Absent
	}
	return units.Value(x.Base, x.Unit), units.Value(x.New, x.Unit)
}

// change formats the effect; in a comparison of saved files it is ~ if no difference is shown.
func (c comparison) change(x results.Change) string {
	switch {
	case x.Effect == nil && x.Exact && x.Base > 0:
		return byHowMuch(x.New/x.Base - 1)
	case x.Effect == nil:
		return units.Absent
	case !c.Paired && x.Effect.Low <= 0 && x.Effect.High >= 0:
		return "~"
	}
	return byHowMuch(x.Effect.Value)
}

func changeInterval(x results.Change) string {
	if x.Effect == nil {
		return units.Absent
	}
	return "[" + byHowMuch(x.Effect.Low) + ", " + byHowMuch(x.Effect.High) + "]"
}

// detectable formats the smallest change that the comparison can show.
func detectable(x results.Change) string {
	switch {
	case x.Exact:
		return "exact"
	case x.Detectable == nil:
		return units.Absent
	}
	return units.Tenths(*x.Detectable)
}

// changeVerdict formats the verdict, in parentheses if the figure is not gated.
func changeVerdict(x results.Change) string {
	text := string(x.Verdict)
	if !x.Gated && text != "" {
		text = "(" + text + ")"
	}
	return text
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
		change := units.Absent
		if q.BaseNS > 0 {
			change = byHowMuch(float64(q.NewNS)/float64(q.BaseNS) - 1)
		}
		t.Rows = append(t.Rows, []string{strings.TrimPrefix(q.Subject+", "+q.Phase, ", "), fmt.Sprintf("p%v", 100*q.Quantile),
			units.Duration(time.Duration(q.BaseNS)), units.Duration(time.Duration(q.NewNS)), units.Duration(time.Duration(q.NewNS - q.BaseNS)), change})
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
	if c.Duet != nil {
		lines = append(lines, "duet: "+together(*c.Duet))
	}
	if line := c.otherChange(); line != "" {
		lines = append(lines, line)
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
		lines = append(lines, "exact: counts that hardly vary, compared by value")
	}
	if len(gated) < len(c.Changes) {
		lines = append(lines, "in parentheses: shown, not judged")
	}
	if c.Calibrated != "" {
		lines = append(lines, "noise: "+c.Calibrated)
	}
	return lines
}

// together says how the two runs of a pair took place at the same time.
func together(d results.Duet) string {
	text := fmt.Sprintf("both runs of a pair at the same time, one on %s and one on %s, exchanged in the middle of the window",
		processors(d.Processors[0]), processors(d.Processors[1]))
	if len(d.Pairs) == 0 {
		return text
	}
	apart := slices.MaxFunc(d.Pairs, func(x, y results.DuetPair) int { return cmp.Compare(x.ApartNS, y.ApartNS) }).ApartNS
	return text + fmt.Sprintf("; windows opened at most %s apart", units.Duration(apart))
}

// processors names processors.
func processors(numbers []int) string {
	if len(numbers) == 1 {
		return fmt.Sprintf("processor %d", numbers[0])
	}
	return "processors " + units.Numbers(numbers)
}

// otherChange explains why the change of a paired comparison differs from that of the two medians
// beside it, with the figure in which they differ most. It returns "" if all changes agree.
func (c comparison) otherChange() string {
	var most results.Change
	apart := 0.0
	for _, x := range c.Changes {
		if !c.Paired || x.Effect == nil || x.Base <= 0 || byHowMuch(x.Effect.Value) == byHowMuch(x.New/x.Base-1) {
			continue
		}
		if d := math.Abs(x.Effect.Value - (x.New/x.Base - 1)); d > apart {
			most, apart = x, d
		}
	}
	if apart == 0 {
		return ""
	}
	return fmt.Sprintf("change: estimated within pairs; base and candidate are medians over all of their runs, whose change can differ: of %s it is %s",
		most.Figure, byHowMuch(most.New/most.Base-1))
}
