package results

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// judgement writes the decision, and the measurement for each threshold. It writes nothing if the
// file has no gates.
func (f File) judgement(w io.Writer, o TableOptions) {
	if len(f.Gates) == 0 {
		return
	}
	o.emphasize(w, f.Decision())
	fmt.Fprintln(w)
	g := grid{columns: []column{{head: "threshold", left: true}, {head: "run", left: true, space: 3}, {head: "measured", space: 3},
		{head: "limit", space: 3}, {head: "verdict", left: true, space: 3}}}
	for _, a := range f.Answers() {
		verdict := string(a.Verdict)
		if a.Why != "" {
			verdict += ": " + a.Why
		}
		g.rows = append(g.rows, []string{a.Asked, a.Of, a.Measured, a.Limit, verdict})
	}
	g.write(w)
	fmt.Fprintln(w)
}

// Decision returns the verdict of a file with gates in one sentence.
func (f File) Decision() string {
	thresholds := distinctGates(f.Gates)
	of := func(verdicts ...Verdict) (n int) {
		for _, gates := range thresholds {
			if slices.ContainsFunc(gates, func(g Gate) bool { return slices.Contains(verdicts, g.Verdict) }) {
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
	word := strings.ToUpper(string(f.Verdict))
	switch f.Verdict {
	case Violated:
		return word + ": a form broke its promise; its numbers are void."
	case Failed, Regression:
		if n := of(Failed, Regression); n > 0 {
			return fmt.Sprintf("%s: %s not met.", word, some(n))
		}
		return word + ": a count is not what holds under any schedule."
	case Invalid, Inconclusive:
		return fmt.Sprintf("%s: %s not decided.", word, some(of(Invalid, Inconclusive)))
	}
	return fmt.Sprintf("%s: %s met.", word, some(len(thresholds)))
}

// distinctGates groups the gates by threshold.
func distinctGates(gates []Gate) (all [][]Gate) {
	for _, g := range gates {
		i := slices.IndexFunc(all, func(of []Gate) bool { return of[0].Text == g.Text && of[0].Scenario == g.Scenario })
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
	Verdict         Verdict
	Why             string
}

// Answers returns, for each threshold, one line for the runs that meet it, with the values of the run
// closest to the limit, and one line for each run that does not, up to mostGates lines.
func (f File) Answers() (all []Answer) {
	for _, gates := range distinctGates(f.Gates) {
		var met, not []Gate
		for _, g := range gates {
			if g.Verdict == Pass || g.Verdict == Better {
				met = append(met, g)
			} else {
				not = append(not, g)
			}
		}
		for _, g := range not[:min(len(not), mostGates)] {
			all = append(all, g.answer(f.aboutGate(g)))
		}
		if more := len(not) - mostGates; more > 0 {
			all = append(all, Answer{Asked: gates[0].title(), Of: fmt.Sprintf("and %s more", Count(int64(more)))})
		}
		if len(met) > 0 {
			g := slices.MaxFunc(met, func(a, b Gate) int { return cmp.Compare(a.closeness(), b.closeness()) })
			who := f.aboutGate(g)
			if len(met) > 1 {
				who = plural(len(met), "run")
			}
			all = append(all, g.answer(who))
		}
	}
	return all
}

// closeness is greater the closer the value of a gate that is met is to its limit.
func (g Gate) closeness() float64 {
	if strings.HasPrefix(g.Op, ">") {
		return *g.Limit - *g.Measured
	}
	return *g.Measured - *g.Limit
}

func (g Gate) answer(who string) Answer {
	value := func(v *float64, before string) string {
		if v == nil {
			return absent
		}
		return before + Value(*v, g.Unit)
	}
	return Answer{g.title(), who, value(g.Measured, ""), value(g.Limit, sign(g.Op)+" "), g.Verdict, g.Why}
}

// title returns the threshold, with its scenario if it has one.
func (g Gate) title() string {
	if g.Scenario != "" {
		return g.Scenario + ": " + g.Text
	}
	return g.Text
}

// aboutGate names the run that a gate is about, without the parts that all runs of the file share.
func (f File) aboutGate(g Gate) string {
	if g.Run < 0 || g.Run >= len(f.Runs) {
		return g.Subject
	}
	r := f.Runs[g.Run]
	text := fmt.Sprintf("%s/%s, %s", r.Recipe, r.Form, Clients(r.Clients))
	if r.Scenario != "" && g.Scenario == "" {
		text = r.Scenario + ": " + text
	}
	if len(distinct(f.Runs, func(r Run) string { return r.Backend.URL })) > 1 {
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
