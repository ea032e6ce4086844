package gate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figure"
)

// Judge judges the file's runs by the thresholds, in their order, and returns the gates and the
// overall verdict. The baseline may be nil if no threshold needs one.
func Judge(f results.File, thresholds []Threshold, baseline *results.File) ([]results.Gate, results.Verdict) {
	c := evaluation{file: f, rows: Rows(f.Runs), baseline: baseline}
	var gates []results.Gate
	for _, t := range thresholds {
		gates = append(gates, c.judge(t)...)
	}
	return gates, Verdict(gates, f.Runs)
}

// Verdict returns the overall verdict of the gates and the runs: a safety violation voids
// everything, and a violated identity of the counts is a regression.
func Verdict(gates []results.Gate, runs []results.Run) results.Verdict {
	verdicts := []results.Verdict{Found(runs)}
	for _, g := range gates {
		verdicts = append(verdicts, g.Verdict)
	}
	return results.Worst(verdicts...)
}

// Found returns the verdict on runs without thresholds.
func Found(runs []results.Run) results.Verdict {
	if results.Unsafe(runs) {
		return results.Fail
	}
	found := results.Pass
	for _, r := range runs {
		if e := r.Cost.Expected; e != nil && slices.ContainsFunc(e.Identities, func(i results.Identity) bool { return !i.Holds }) {
			found = results.Regression
		}
	}
	return found
}

// An evaluation applies thresholds to one file.
type evaluation struct {
	file     results.File
	rows     []Row // of the file's runs
	baseline *results.File
}

// judge judges every run that the threshold selects. If there is none, because the form was skipped
// or the command was interrupted, the verdict is invalid.
func (c evaluation) judge(t Threshold) (gates []results.Gate) {
	for i, row := range c.rows {
		if t.selects(row) && (t.Scenario == "" || t.Scenario == row.Scenario) {
			gates = append(gates, c.judgeRun(t, i))
		}
	}
	if len(gates) == 0 {
		gates = []results.Gate{{Text: t.Text, Scenario: t.Scenario, Subject: "no run", Run: -1, Figure: t.figure.Name, Unit: string(t.figure.Unit), Op: string(t.op),
			Verdict: results.Invalid, Why: "no run that it is about was done"}}
	}
	return gates
}

// judgeRun judges the run at index at by the threshold.
func (c evaluation) judgeRun(t Threshold, at int) results.Gate {
	run := c.file.Runs[at]
	g := results.Gate{Text: t.Text, Scenario: t.Scenario, Subject: c.rows[at].String(), Run: at, Figure: t.figure.Name, Unit: string(t.figure.Unit), Op: string(t.op)}
	g.Measured = value(t.figure, run)
	l := c.limit(t, at)
	g.Limit = l.value
	_, bias := t.figure.Doubt(run)
	switch {
	case run.Safety.Violations > 0 && t.asksForViolations(run):
		g.Verdict = results.Pass
	case run.Safety.Violations > 0:
		g.Verdict, g.Why = results.Fail, "the form violated safety"
	case g.Measured == nil:
		g.Verdict, g.Why = results.Invalid, unknown(t.figure, run)
	case l.value == nil || l.verdict != "":
		g.Verdict, g.Why = l.verdict, l.why
	case figure.Voids(t.op, t.op.Holds(*g.Measured, *g.Limit), bias, l.bias):
		g.Verdict, g.Why = results.Invalid, l.doubt
		if bias != 0 {
			g.Why = t.figure.Voiding(run, t.op, t.op.Holds(*g.Measured, *g.Limit)).Text
		}
	case t.op.Holds(*g.Measured, *g.Limit):
		g.Verdict = results.Pass
	case t.NeedsBaseline():
		g.Verdict = results.Regression
	default:
		g.Verdict = results.Fail
	}
	return g
}

// asksForViolations reports whether the threshold is on the number of violations and the run meets it: the symptom of an
// incident may be one. All other numbers of the run are void.
func (t Threshold) asksForViolations(r results.Run) bool {
	return t.figure.Name == figure.Violations && t.operand.kind == ofValue && t.op.Holds(float64(r.Safety.Violations), t.operand.value)
}

// value returns the figure of the run, nil if it is unknown.
func value(f figure.Figure, r results.Run) *float64 {
	v, known := f.RunValue(r)
	if !known {
		return nil
	}
	return &v
}

// unknown says why a figure is unknown.
func unknown(f figure.Figure, r results.Run) string {
	if f.CountsLost(r) {
		return "it is the time of an arrival that was not served"
	}
	if last := f.Name[strings.LastIndex(f.Name, ".")+1:]; strings.HasPrefix(last, "p") {
		return "too few observations"
	}
	return "the run has no such figure"
}

// A limit is the value that a figure is compared with. If verdict is set, no comparison is
// possible, and why gives the reason.
type limit struct {
	value   *float64
	verdict results.Verdict
	why     string
	bias    figure.Bias // of the value, and
	doubt   string      // why
}

func (c evaluation) limit(t Threshold, at int) limit {
	switch o := t.operand; o.kind {
	case ofRun:
		return c.limitOfRun(o, at)
	case ofBaseline:
		return c.limitOfBaseline(t, at)
	default:
		return limit{value: &o.value}
	}
}

// limitOfRun returns the limit of a ratio to another run of the file.
func (c evaluation) limitOfRun(o operand, at int) limit {
	i, err := o.partner(at, c.rows)
	if err != nil {
		return limit{verdict: results.Invalid, why: err.Error()}
	}
	run, who := c.file.Runs[i], strings.TrimSuffix(c.rows[i].String(), ":")+": "
	v := value(o.other.figure, run)
	doubt, bias := o.other.figure.Doubt(run)
	switch {
	case run.Safety.Violations > 0:
		return limit{verdict: results.Fail, why: who + "the form violated safety"}
	case v == nil:
		return limit{verdict: results.Invalid, why: who + unknown(o.other.figure, run)}
	}
	*v *= o.value
	return limit{value: v, bias: bias, doubt: who + doubt.Text}
}

// A Noise returns by which share a figure differs between two runs with the same setting on this
// machine, and where that number comes from. The share is 0 if it is unknown.
type Noise func(r results.Run, figure string) (share float64, known string)

// Excuse makes a regression against the baseline inconclusive if the figure exceeds its limit by no
// more than the noise floor. It applies only to figures that depend on the machine, not to counts.
func Excuse(gates []results.Gate, runs []results.Run, noise Noise) {
	for i := range gates {
		g := &gates[i]
		if g.Verdict != results.Regression || g.Run < 0 {
			continue
		}
		f, err := figure.Parse(g.Figure, runs[g.Run].Phases)
		if err != nil || !f.Timed() || *g.Measured <= 0 || *g.Limit <= 0 {
			continue
		}
		share, known := noise(runs[g.Run], g.Figure)
		if beyond := math.Expm1(math.Abs(math.Log(*g.Measured / *g.Limit))); beyond <= share {
			g.Verdict = results.Inconclusive
			g.Why = fmt.Sprintf("beyond by %s, which may be noise: %s", figure.Figure{Unit: figure.Share}.Format(beyond), known)
		}
	}
}
