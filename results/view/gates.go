package view

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/internal/printable"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/units"
)

// judgement writes the decision, and the measurement for each threshold. It writes nothing if the
// file has no gates.
func (f file) judgement(w io.Writer, o Options) {
	if len(f.Gates) == 0 {
		return
	}
	fmt.Fprintf(w, "  %s\n", o.paint(Decision(f.File), f.Verdict))
	fmt.Fprintln(w)
	var g grid
	var verdicts []results.Verdict
	var whys []string
	named := true // each threshold names its run
	for _, a := range Answers(f.File) {
		if why := a.Asked + ": " + a.Why; a.Why != "" && !slices.Contains(whys, why) {
			whys = append(whys, why)
		}
		g.rows = append(g.rows, []string{a.Asked, a.Of, a.Measured, a.Limit, string(a.Verdict)})
		verdicts = append(verdicts, a.Verdict)
		named = named && a.Named
	}
	g.columns = []column{{head: "threshold", left: true}, {head: "run", left: true, space: 3}, {head: "measured", space: 3},
		{head: "limit", space: 3}, {head: "verdict", left: true, space: 3, verdicts: verdicts}}
	if named {
		g.drop("run")
	}
	g.coloured(o).write(w)
	writeLines(w, "", whys)
	fmt.Fprintln(w)
}

// paint returns the words of a verdict in bold and in the colour of the verdict. The words say the
// same without it.
func (o Options) paint(words string, v results.Verdict) string {
	if !o.Color || v == "" || words == "" {
		return words
	}
	colour := printable.Red
	switch v {
	case results.Pass, results.Improvement:
		colour = printable.Green
	case results.Invalid, results.Inconclusive:
		colour = printable.Yellow
	}
	return colour + words + printable.Plain
}

// Decision returns the verdict of a file with gates and its reason, in one sentence.
func Decision(f results.File) string {
	return strings.ToUpper(string(f.Verdict)) + ": " + Reason(f)
}

// Reason returns the reason for the verdict of a file with gates.
func Reason(f results.File) string {
	thresholds := distinctGates(f.Gates)
	of := func(verdicts ...results.Verdict) (n int) {
		for _, gates := range thresholds {
			if slices.ContainsFunc(gates, func(g results.Gate) bool { return slices.Contains(verdicts, g.Verdict) }) {
				n++
			}
		}
		return n
	}
	some := func(n int) string {
		switch {
		case len(thresholds) == 1:
			return "the threshold is"
		case n == 1:
			return fmt.Sprintf("1 of %d thresholds is", len(thresholds))
		}
		return fmt.Sprintf("%d of %d thresholds are", n, len(thresholds))
	}
	if results.Unsafe(f.Runs) {
		return "a form violated safety; the numbers are void."
	}
	switch f.Verdict {
	case results.Fail, results.Regression:
		if n := of(results.Fail, results.Regression); n > 0 {
			return some(n) + " not met."
		}
		return "a count is not what holds under any schedule."
	case results.Invalid, results.Inconclusive:
		return some(of(results.Invalid, results.Inconclusive)) + " not decided."
	}
	return some(len(thresholds)) + " met."
}

// distinctGates groups the gates by threshold.
func distinctGates(gates []results.Gate) (all [][]results.Gate) {
	for _, g := range gates {
		i := slices.IndexFunc(all, func(of []results.Gate) bool { return of[0].Text == g.Text && of[0].Scenario == g.Scenario })
		if i < 0 {
			all = append(all, nil)
			i = len(all) - 1
		}
		all[i] = append(all[i], g)
	}
	return all
}

// mostGates is the maximum number of lines for one threshold that is not met.
const mostGates = 5

// An Answer is a line about the outcome of a threshold.
type Answer struct {
	Asked, Of       string // the threshold, and which run, or how many runs
	Measured, Limit string // with their units, "n/a" if not known; "" in a line that only counts further runs
	Verdict         results.Verdict
	Why             string
	Named           bool // the path of the threshold names the run: "lock/predecessor@8.…"
}

// Answers returns, for each threshold, one line for the runs that meet it, with the values of the run
// closest to the limit, and one line for each run that does not, up to mostGates lines.
func Answers(f results.File) (all []Answer) {
	for _, gates := range distinctGates(f.Gates) {
		var met, not []results.Gate
		for _, g := range gates {
			if g.Verdict == results.Pass || g.Verdict == results.Improvement {
				met = append(met, g)
			} else {
				not = append(not, g)
			}
		}
		for _, g := range not[:min(len(not), mostGates)] {
			all = append(all, answer(f, g))
		}
		if more := len(not) - mostGates; more > 0 {
			all = append(all, Answer{Asked: gateTitle(gates[0]), Of: fmt.Sprintf("and %s more", units.Count(int64(more)))})
		}
		if len(met) > 0 {
			g := slices.MaxFunc(met, func(a, b results.Gate) int { return cmp.Compare(closeness(a), closeness(b)) })
			a := answer(f, g)
			if len(met) > 1 {
				a.Of, a.Named = units.Plural(len(met), "run"), false
			}
			all = append(all, a)
		}
	}
	return all
}

// answer returns the line about a gate of a file of runs.
func answer(f results.File, g results.Gate) Answer {
	a := AnswerOf(g, aboutGate(f, g))
	if g.Run >= 0 && g.Run < len(f.Runs) {
		r := f.Runs[g.Run]
		a.Named = strings.HasPrefix(g.Text, fmt.Sprintf("%s/%s@%d.", r.Recipe, r.Form, r.Clients))
	}
	return a
}

// closeness is greater the closer the value of a gate that is met is to its limit.
func closeness(g results.Gate) float64 {
	if strings.HasPrefix(g.Op, ">") {
		return *g.Limit - *g.Measured
	}
	return *g.Measured - *g.Limit
}

// AnswerOf returns the line about one measurement of a threshold.
func AnswerOf(g results.Gate, of string) Answer {
	value := func(v *float64, before string) string {
		if v == nil {
			return units.Absent
		}
		return before + units.Value(*v, g.Unit)
	}
	return Answer{Asked: gateTitle(g), Of: of, Measured: value(g.Measured, ""), Limit: value(g.Limit, sign(g.Op)+" "), Verdict: g.Verdict, Why: g.Why}
}

// gateTitle returns the threshold, with its scenario if it has one.
func gateTitle(g results.Gate) string {
	if g.Scenario != "" {
		return g.Scenario + ": " + g.Text
	}
	return g.Text
}

// aboutGate names the run that a gate is about, without the parts that all runs of the file share.
func aboutGate(f results.File, g results.Gate) string {
	if g.Run < 0 || g.Run >= len(f.Runs) {
		return g.Subject
	}
	r := f.Runs[g.Run]
	text := fmt.Sprintf("%s/%s, %s", r.Recipe, r.Form, units.Clients(r.Clients))
	if r.Scenario != "" && g.Scenario == "" {
		text = r.Scenario + ": " + text
	}
	if len(levels.Distinct(f.Runs, func(r results.Run) string { return r.Backend.URL })) > 1 {
		text += ", " + r.Backend.URL
	}
	return text
}

// sign formats an operator for people: "≤".
func sign(op string) string {
	switch op {
	case "<=":
		return "≤"
	case ">=":
		return "≥"
	case "==":
		return "="
	}
	return op
}
