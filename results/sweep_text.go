package results

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// curves writes, for each form, how its costs grow, how its throughput scales and what limits it.
func (s Sweep) curves(w io.Writer) {
	if len(s.Curves) == 0 {
		return
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, c := range s.Curves {
		name := s.form(c.Recipe, c.Form, c.URL, c.Beside)
		for _, line := range s.lines(c) {
			fmt.Fprintf(t, "  %s\t%s\t%s\n", name, line.what, line.text)
			name = ""
		}
	}
	t.Flush() // writes into memory
}

type line struct{ what, text string }

func (s Sweep) lines(c Curve) (lines []line) {
	if len(c.Growth) > 0 {
		lines = append(lines,
			line{"cost", fmt.Sprintf("notifications per round %s, from %s clients on", c.growth(perNotification), short(c.GrowthFrom))},
			line{"", fmt.Sprintf("reads and writes per round %s", c.growth(perOperation))})
	}
	if u := c.USL; u != nil {
		lines = append(lines,
			line{"scaling", u.formula()},
			line{"knee", u.knee()},
			line{"residuals", u.residuals()})
	} else if c.NoUSL != "" {
		lines = append(lines, line{"scaling", "no law: " + c.NoUSL})
	}
	for _, x := range s.Crossovers {
		if c.Beside != "" && x.of(c) {
			lines = append(lines, line{"worse", s.worse(x)})
		}
	}
	for _, levels := range s.series() {
		if c.Beside != "" && s.beside(levels[0]) == c.Beside && c.of(levels[0]) && s.follows(levels) {
			lines = append(lines, line{"trend", s.trend(levels)})
		}
	}
	for _, limit := range c.Limits {
		lines = append(lines, line{"limit", limit})
	}
	return lines
}

// worse says in a line of the form's own what crosses says in a sentence.
func (s Sweep) worse(c Crossover) string {
	much := fmt.Sprintf("%s times %s's in %s", short(s.WorseBy), c.Than, c.Metric)
	switch {
	case c.At == nil:
		return "not more than " + much + " at the last level"
	case c.Always:
		return "more than " + much + " from the first level on"
	}
	return fmt.Sprintf("more than %s from %s on", much, place(s.Axes[0], *c.At))
}

// growth formats the growth of a cost: "as N^0.97 [0.95, 0.99]", or "flat".
func (c Curve) growth(name string) string {
	g, ok := c.Growth[name]
	if !ok {
		return "0 at some level"
	}
	switch {
	case power(&g.Low) == "flat" && power(&g.High) == "flat":
		return "flat"
	case g.Low <= 0 && 0 <= g.High:
		return fmt.Sprintf("flat, N^%s [%s, %s]", exponent2(g.Value), exponent2(g.Low), exponent2(g.High))
	}
	return fmt.Sprintf("as N^%s [%s, %s]", exponent2(g.Value), exponent2(g.Low), exponent2(g.High))
}

// exponent2 formats an exponent with two decimals.
func exponent2(v float64) string {
	if text := fmt.Sprintf("%.2f", v); text != "-0.00" {
		return strings.Replace(text, "-", "−", 1)
	}
	return "0.00"
}

func (u USL) formula() string {
	return fmt.Sprintf("X(N) = %s·N / (1 + %s·(N−1) + %s·N(N−1)), R² %.3f", Rate(u.Gamma), coefficient(u.Alpha), coefficient(u.Beta), u.R2)
}

// coefficient formats a coefficient, as 0 if it is too small to matter at any level.
func coefficient(v float64) string {
	if v < 1e-9 {
		return "0"
	}
	return Rate(v)
}

// knee says where throughput peaks, if a fall beyond the peak was measured.
func (u USL) knee() string {
	first, last := u.Residuals[0].N, u.Residuals[len(u.Residuals)-1].N
	switch {
	case u.Knee == nil || *u.Knee > last: // older files extrapolate it
		return fmt.Sprintf("no peak up to %s clients", short(last))
	case *u.Knee < first:
		return fmt.Sprintf("at %s clients or fewer: throughput falls from the first level on", short(first))
	}
	return fmt.Sprintf("at %s clients %s", short(*u.Knee), u.interval(last))
}

// interval formats the interval of the peak. Older files may have none, or one without an upper end.
func (u USL) interval(last float64) string {
	switch {
	case u.KneeLow == nil:
		return "(no interval)"
	case u.KneeHigh == nil || *u.KneeHigh > last:
		return fmt.Sprintf("[%s, no end]", short(*u.KneeLow))
	}
	return fmt.Sprintf("[%s, %s]", short(*u.KneeLow), short(*u.KneeHigh))
}

// residuals formats how far each level's median is from the law.
func (u USL) residuals() string {
	parts := make([]string, len(u.Residuals))
	for i, r := range u.Residuals {
		parts[i] = fmt.Sprintf("%s %s %%", short(r.N), plus(100*(r.Measured/r.Fitted-1)))
	}
	return strings.Join(parts, " · ")
}

func plus(v float64) string {
	return strings.Replace(fmt.Sprintf("%+.1f", v), "-", "−", 1)
}

// form returns a form's name, with what distinguishes it from the other forms of the sweep.
func (s Sweep) form(recipe, form, url, beside string) string {
	name := form
	if len(distinct(s.Runs, func(r Run) string { return r.Recipe })) > 1 {
		name = recipe + "/" + form
	}
	if len(distinct(s.Runs, func(r Run) string { return r.Backend.URL })) > 1 {
		name += " on " + url
	}
	if beside != "" {
		name += ", " + beside
	}
	return cmp.Or(name, absent)
}
