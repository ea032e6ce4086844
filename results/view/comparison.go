package view

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/units"
)

// Page returns the comparison's text for people.
func (c comparison) Page() Page {
	p := Page{Heading: c.Heading() + " · " + c.Base.Label + " → " + c.New.Label, Finding: c.findings(c.New.Label), Tables: c.Tables(), Command: CommandLine(c.Command)}
	if c.Interrupted {
		p.Broken, p.Finding = p.Finding[0], nil
	}
	p.Warnings = texts(c.Warnings)
	p.Notes = c.notes()
	return p
}

// Tables returns the changes of each subject, then the tables beside them.
func (c comparison) Tables() (all []Table) {
	for _, of := range bySubject(c.Changes) {
		title := cmp.Or(of[0].Subject, c.Base.Label+" → "+c.New.Label)
		all = append(all, tabled(title, c.changes(of), whys(of), nil))
	}
	for _, p := range c.parts() {
		all = append(all, tabled(p.title, p.grid, nil, nil))
	}
	return all
}

// Page returns the calibration's text for people.
func (c calibration) Page() Page {
	p := Page{Heading: c.Heading(), Finding: c.Findings(), Warnings: texts(c.Warnings), Command: CommandLine(c.Command)}
	p.Tables = c.Tables()
	return p
}

// Tables returns the noise of each setting.
func (c calibration) Tables() (all []Table) {
	for _, s := range c.Settings {
		all = append(all, tabled(s.Setting, noiseTable(s), nil, nil))
	}
	return all
}

// WriteTable writes the comparison for people: the finding, the figures with their intervals, the
// warnings, and the command that repeats it.
func (c comparison) WriteTable(w io.Writer, o Options) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n\n", c.Heading())
	for _, line := range c.Findings() {
		o.Emphasize(&b, line)
	}
	fmt.Fprintf(&b, "\n  base       %s\n  candidate  %s\n", c.Base.Label, c.New.Label)
	for _, of := range bySubject(c.Changes) {
		fmt.Fprintln(&b)
		if title := of[0].Subject; title != "" {
			fmt.Fprintf(&b, "  %s\n", title)
		}
		c.changes(of).coloured(o).write(&b)
		writeLines(&b, "", whys(of))
	}
	for _, p := range c.parts() {
		fmt.Fprintf(&b, "\n  %s\n", p.title)
		p.grid.coloured(o).write(&b)
	}
	fmt.Fprintln(&b)
	writeLines(&b, "warning: ", texts(c.Warnings))
	c.foot(&b, o)
	_, err := w.Write(b.Bytes())
	return err
}

// Heading names base and candidate in one line.
func (c comparison) Heading() string {
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

func bySubject(changes []results.Change) (groups [][]results.Change) {
	for _, x := range changes {
		i := slices.IndexFunc(groups, func(g []results.Change) bool { return g[0].Subject == x.Subject })
		if i < 0 {
			i = len(groups)
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], x)
	}
	return groups
}

// changes returns the table of one subject's changes.
func (c comparison) changes(of []results.Change) *grid {
	g := &grid{columns: []column{{head: "figure", left: true}, {head: "base", space: 3}, {head: "candidate", space: 3}, {head: "change", space: 3},
		{head: "95 % interval", space: 3}, {head: "detectable", space: 3}, {head: "verdict", left: true, space: 3}}}
	verdicts := &g.columns[len(g.columns)-1].verdicts
	for _, x := range of {
		base, other := Medians(x)
		g.rows = append(g.rows, []string{x.Figure, base, other, c.change(x), changeInterval(x), detectable(x), changeVerdict(x)})
		*verdicts = append(*verdicts, x.Verdict)
	}
	return g
}

// Medians returns the medians of base and candidate with their unit, or n/a if there are none.
func Medians(x results.Change) (base, other string) {
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

// whys returns the reasons of verdicts that do not follow from the numbers alone.
func whys(of []results.Change) (lines []string) {
	var reasons []string
	figures := map[string][]string{}
	for _, x := range of {
		if x.Why == "" {
			continue
		}
		if figures[x.Why] == nil {
			reasons = append(reasons, x.Why)
		}
		figures[x.Why] = append(figures[x.Why], x.Figure)
	}
	for _, why := range reasons {
		lines = append(lines, strings.Join(figures[why], ", ")+": "+why)
	}
	return lines
}

// A part is a table beside the table of changes.
type part struct {
	title string
	grid  *grid
}

// parts returns the tables beside the changes.
func (c comparison) parts() (all []part) {
	if len(c.Confirmation) > 0 {
		all = append(all, part{"confirmation of regressions", c.changes(c.Confirmation)})
	}
	if len(c.Means) > 0 {
		g := &grid{columns: []column{{head: "figure", left: true}, {head: "change", space: 3}, {head: "over", space: 3}}}
		for _, m := range c.Means {
			g.rows = append(g.rows, []string{m.Figure, byHowMuch(m.Change), units.Plural(m.Subjects, "row")})
		}
		all = append(all, part{"geometric means", g})
	}
	if len(c.Quantiles) > 0 {
		all = append(all, part{"histograms", c.quantiles()})
	}
	return all
}

func (c comparison) quantiles() *grid {
	g := &grid{columns: []column{{head: "phase", left: true}, {head: "quantile", space: 3}, {head: "base", space: 3}, {head: "candidate", space: 3}, {head: "difference", space: 3}, {head: "change", space: 3}}}
	for _, q := range c.Quantiles {
		change := units.Absent
		if q.BaseNS > 0 {
			change = byHowMuch(float64(q.NewNS)/float64(q.BaseNS) - 1)
		}
		g.rows = append(g.rows, []string{strings.TrimPrefix(q.Subject+", "+q.Phase, ", "), fmt.Sprintf("p%v", 100*q.Quantile),
			units.Duration(time.Duration(q.BaseNS)), units.Duration(time.Duration(q.NewNS)), units.Duration(time.Duration(q.NewNS - q.BaseNS)), change})
	}
	return g
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
		lines = append(lines, "duet: "+Together(*c.Duet))
	}
	if line := c.notOfTheMedians(); line != "" {
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

// Together says how the two runs of a pair took place at the same time.
func Together(d results.Duet) string {
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

// notOfTheMedians explains why the change of a paired comparison differs from that of the two medians
// beside it, with the figure in which they differ most. It returns "" if all changes agree.
func (c comparison) notOfTheMedians() string {
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

// foot writes the notes, and the command that repeats the comparison.
func (c comparison) foot(w io.Writer, o Options) {
	for _, line := range c.notes() {
		fmt.Fprintf(w, "  %s\n", line)
	}
	if o.Saved != "" {
		fmt.Fprintf(w, "  saved: %s\n", o.Saved)
	}
	writeCommand(w, c.Command)
}
