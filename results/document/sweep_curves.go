package document

import (
	"fmt"
	"strings"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/units"
)

// curves says, for each form, how its costs grow, how its throughput scales and what limits it.
func (s sweep) curves() Table {
	t := Table{Title: "growth and limits", Columns: columns(0, "<growth and limits", "<", "<")}
	t.Columns[2].Prose = true
	for _, c := range s.Curves {
		name := levels.FormName(s.Sweep, c.Recipe, c.Form, c.URL, c.Beside)
		for _, line := range s.lines(c) {
			t.Rows = append(t.Rows, []string{name, line.what, line.text})
			name = ""
		}
	}
	return t
}

type line struct{ what, text string }

func (s sweep) lines(c results.Curve) (lines []line) {
	if len(c.Growth) > 0 {
		lines = append(lines,
			line{"cost", fmt.Sprintf("notifications per round %s, from %s clients on", growth(c, levels.Notifications), units.Short(c.GrowthFrom))},
			line{"", fmt.Sprintf("reads and writes per round %s", growth(c, levels.Operations))})
	}
	if u := c.USL; u != nil {
		lines = append(lines,
			line{"scaling", formula(*u)},
			line{"knee", knee(*u)},
			line{"residuals", residuals(*u)})
	} else if c.NoUSL != "" {
		lines = append(lines, line{"scaling", "no law: " + c.NoUSL})
	}
	for _, x := range s.Crossovers {
		if c.Beside != "" && crossoverOf(x, c) {
			lines = append(lines, line{"worse", s.worse(x)})
		}
	}
	for _, rows := range levels.Split(s.Sweep) {
		if c.Beside != "" && levels.Beside(s.Sweep, rows[0]) == c.Beside && levels.CurveOf(c, rows[0]) && s.follows(rows) {
			lines = append(lines, line{"trend", s.trend(rows)})
		}
	}
	for _, limit := range c.Limits {
		lines = append(lines, line{"limit", limit})
	}
	return lines
}

// worse says in a line of the form's own what crosses says in a sentence.
func (s sweep) worse(c results.Crossover) string {
	much := fmt.Sprintf("%s times %s's in %s", units.Short(s.WorseBy), c.Than, c.Metric)
	switch {
	case c.At == nil:
		return "not more than " + much + " at the last level"
	case c.Always:
		return "more than " + much + " from the first level on"
	}
	return fmt.Sprintf("more than %s from %s on", much, levels.Place(s.Axes[0], *c.At))
}

// growth formats the growth of a cost: "as N^0.97 [0.95, 0.99]", or "flat".
func growth(c results.Curve, name string) string {
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

func formula(u results.USL) string {
	return fmt.Sprintf("X(N) = %s·N / (1 + %s·(N−1) + %s·N(N−1)), R² %.3f", units.Rate(u.Gamma), coefficient(u.Alpha), coefficient(u.Beta), u.R2)
}

// coefficient formats a coefficient, as 0 if it is too small to matter at any level.
func coefficient(v float64) string {
	if v < 1e-9 {
		return "0"
	}
	return units.Rate(v)
}

// knee says where throughput peaks, if a fall beyond the peak was measured.
func knee(u results.USL) string {
	first, last := u.Residuals[0].N, u.Residuals[len(u.Residuals)-1].N
	switch {
	case u.Knee == nil:
		return fmt.Sprintf("no peak up to %s clients", units.Short(last))
	case *u.Knee < first:
		return fmt.Sprintf("at %s clients or fewer: throughput falls from the first level on", units.Short(first))
	}
	return fmt.Sprintf("at %s clients %s", units.Short(*u.Knee), kneeInterval(u, last))
}

// kneeInterval formats the interval of the peak.
func kneeInterval(u results.USL, last float64) string {
	if *u.KneeHigh > last {
		return fmt.Sprintf("[%s, no end]", units.Short(*u.KneeLow))
	}
	return fmt.Sprintf("[%s, %s]", units.Short(*u.KneeLow), units.Short(*u.KneeHigh))
}

// residuals formats how far each level's median is from the law.
func residuals(u results.USL) string {
	parts := make([]string, len(u.Residuals))
	for i, r := range u.Residuals {
		parts[i] = fmt.Sprintf("%s %s %%", units.Short(r.N), plus(100*(r.Measured/r.Fitted-1)))
	}
	return strings.Join(parts, " · ")
}

func plus(v float64) string {
	return strings.Replace(fmt.Sprintf("%+.1f", v), "-", "−", 1)
}
