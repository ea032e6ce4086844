package results

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
)

// WriteTable writes the comparison for people: the finding, the figures with their intervals, the
// warnings, and the command that repeats it.
func (c Comparison) WriteTable(w io.Writer, o TableOptions) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n\n", c.Heading())
	for _, line := range c.Findings() {
		o.emphasize(&b, line)
	}
	fmt.Fprintf(&b, "\n  %-4s  %s\n  NEW   %s\n", c.first(), c.Base.Label, c.New.Label)
	for _, of := range bySubject(c.Changes) {
		fmt.Fprintln(&b)
		if title := of[0].Subject; title != "" {
			fmt.Fprintf(&b, "  %s\n", title)
		}
		c.changes(of).write(&b)
		whys(&b, of)
	}
	for _, p := range c.parts() {
		fmt.Fprintf(&b, "\n  %s\n", p.title)
		p.grid.write(&b)
	}
	fmt.Fprintln(&b)
	for _, warning := range c.Warnings {
		fmt.Fprintf(&b, "  warning: %s\n", warning.Text)
	}
	c.foot(&b, o)
	_, err := w.Write(b.Bytes())
	return err
}

// first returns the label of the first side.
func (c Comparison) first() string {
	if c.Paired {
		return "BASE"
	}
	return "OLD"
}

// Heading says in one line what was compared.
func (c Comparison) Heading() string {
	command := "stampede compare"
	if c.Paired {
		command = "stampede ab"
	}
	parts := []string{command}
	if c.Paired {
		parts = append(parts, plural(c.Planned, "pair"), fmt.Sprintf("seed %d", c.Seed), c.Took.Round(time.Second).String())
	}
	return strings.Join(parts, " · ")
}

func bySubject(changes []Change) (groups [][]Change) {
	for _, x := range changes {
		i := slices.IndexFunc(groups, func(g []Change) bool { return g[0].Subject == x.Subject })
		if i < 0 {
			i = len(groups)
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], x)
	}
	return groups
}

// changes returns the table of one subject's changes.
func (c Comparison) changes(of []Change) *grid {
	g := &grid{columns: []column{{head: "figure", left: true}, {head: "base", space: 3}, {head: "new", space: 3}, {head: "change", space: 3},
		{head: "95 % interval", space: 3}, {head: "detectable", space: 3}, {head: "verdict", left: true, space: 3}}}
	for _, x := range of {
		base, other := x.Medians()
		g.rows = append(g.rows, []string{x.Figure, base, other, c.change(x), x.interval(), x.detectable(), x.verdict()})
	}
	return g
}

// Known reports whether the change has medians. With too few observations it has none.
func (x Change) Known() bool {
	return x.Verdict != Invalid || x.P != nil || x.Base != 0 || x.New != 0
}

// Medians returns the medians of both sides with their unit, or n/a if there are none.
func (x Change) Medians() (base, other string) {
	if !x.Known() {
		return absent, absent
	}
	return Value(x.Base, x.Unit), Value(x.New, x.Unit)
}

// change formats the effect; in a comparison of saved files it is ~ if no difference is shown.
func (c Comparison) change(x Change) string {
	switch {
	case x.Effect == nil:
		return absent
	case !c.Paired && x.Effect.Low <= 0 && x.Effect.High >= 0:
		return "~"
	}
	return byHowMuch(x.Effect.Value)
}

func (x Change) interval() string {
	if x.Effect == nil {
		return absent
	}
	return "[" + byHowMuch(x.Effect.Low) + ", " + byHowMuch(x.Effect.High) + "]"
}

// detectable formats the smallest change that the comparison can show.
func (x Change) detectable() string {
	switch {
	case x.Exact:
		return "exact"
	case x.Detectable == nil:
		return absent
	}
	return shareOf(*x.Detectable)
}

// verdict formats the verdict, in parentheses if the figure is not gated.
func (x Change) verdict() string {
	text := string(x.Verdict)
	if x.Verdict == Regression {
		text = "REGRESSION"
	}
	if !x.Gated && text != "" {
		text = "(" + text + ")"
	}
	return text
}

// whys writes the reasons of verdicts that do not follow from the numbers alone.
func whys(w io.Writer, of []Change) {
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
		fmt.Fprintf(w, "  %s: %s\n", strings.Join(figures[why], ", "), why)
	}
}

// A part is a table beside the table of changes.
type part struct {
	title string
	grid  *grid
}

// parts returns the tables beside the changes.
func (c Comparison) parts() (all []part) {
	if len(c.Confirmation) > 0 {
		all = append(all, part{"once more, what had been a regression", c.changes(c.Confirmation)})
	}
	if len(c.Means) > 0 {
		g := &grid{columns: []column{{head: "figure", left: true}, {head: "change", space: 3}, {head: "over", space: 3}}}
		for _, m := range c.Means {
			g.rows = append(g.rows, []string{m.Figure, byHowMuch(m.Change), plural(m.Subjects, "row")})
		}
		all = append(all, part{"geometric means", g})
	}
	if len(c.Quantiles) > 0 {
		all = append(all, part{"histograms", c.quantiles()})
	}
	return all
}

func (c Comparison) quantiles() *grid {
	g := &grid{columns: []column{{head: "phase", left: true}, {head: "quantile", space: 3}, {head: "base", space: 3}, {head: "new", space: 3}, {head: "difference", space: 3}, {head: "change", space: 3}}}
	for _, q := range c.Quantiles {
		change := absent
		if q.BaseNS > 0 {
			change = byHowMuch(float64(q.NewNS)/float64(q.BaseNS) - 1)
		}
		g.rows = append(g.rows, []string{strings.TrimPrefix(q.Subject+", "+q.Phase, ", "), fmt.Sprintf("p%v", 100*q.Quantile),
			Duration(time.Duration(q.BaseNS)), Duration(time.Duration(q.NewNS)), Duration(time.Duration(q.NewNS - q.BaseNS)), change})
	}
	return g
}

// notes says how the verdicts were reached.
func (c Comparison) notes() (lines []string) {
	var gated []Change
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
	if line := c.notOfTheMedians(); line != "" {
		lines = append(lines, line)
	}
	if tested > 0 {
		lines = append(lines, "detectable: the smallest true change for the worse that such a comparison shows in about 80 % of all cases")
	}
	if tested > 1 {
		lines = append(lines, fmt.Sprintf("verdicts are by Holm over the %d figures that were tested, intervals are of each figure by itself", tested))
	}
	if exact > 0 {
		lines = append(lines, "exact: counts that hardly vary, compared by their values")
	}
	if len(gated) < len(c.Changes) {
		lines = append(lines, "in parentheses: shown, and not gated")
	}
	if c.Calibrated != "" {
		lines = append(lines, "noise: "+c.Calibrated)
	}
	return lines
}

// notOfTheMedians explains why the change of a paired comparison differs from that of the two medians
// beside it, with the figure in which they differ most. It returns "" if all changes agree.
func (c Comparison) notOfTheMedians() string {
	var most Change
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
	return fmt.Sprintf("change: from the changes within the pairs; base and new are medians over all runs of a side, and their change can differ: of %s it is %s",
		most.Figure, byHowMuch(most.New/most.Base-1))
}

// foot writes the notes, and the command that repeats the comparison.
func (c Comparison) foot(w io.Writer, o TableOptions) {
	for _, line := range c.notes() {
		fmt.Fprintf(w, "  %s\n", line)
	}
	if o.Saved != "" {
		fmt.Fprintf(w, "  saved: %s\n", o.Saved)
	}
	fmt.Fprintf(w, "  again: %s\n", commandLine(c.Command))
}
