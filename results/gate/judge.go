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
	measured := t.figure.Read(run)
	g.Measured, g.MeasuredInfinite = written(measured)
	l := c.limit(t, at)
	g.Limit, g.LimitInfinite = written(l.Reading)
	if l.verdict == "" && !l.Known() {
		l.verdict, l.why = results.Invalid, l.Unknown
	}
	switch {
	case run.Safety.Violations > 0 && t.asksForViolations(run):
		g.Verdict = results.Pass
	case run.Safety.Violations > 0:
		g.Verdict, g.Why = results.Fail, "the form violated safety"
	case !measured.Known():
		g.Verdict, g.Why = results.Invalid, measured.Unknown
	case l.verdict != "":
		g.Verdict, g.Why = l.verdict, l.why
	default:
		g.Verdict, g.Why = t.decide(measured, l.Reading)
	}
	return g
}

// decide judges a value that is known. Where most arrivals are not served, an infinite time is no matter of how much
// slower than the baseline the service has become: the threshold is not met.
func (t Threshold) decide(measured, limit figure.Reading) (results.Verdict, string) {
	holds, doubt := t.op.Judge(measured, limit)
	switch {
	case measured.Infinite() && limit.Infinite():
		return results.Invalid, "it and the limit are both the time of an arrival that was not served: which is greater is not known"
	case doubt != "":
		return results.Invalid, doubt
	case holds:
		return results.Pass, ""
	case measured.Infinite():
		return results.Fail, unserved
	case t.NeedsBaseline():
		return results.Regression, ""
	}
	return results.Fail, ""
}

// unserved says why a percentile is infinite.
const unserved = "it is the time of an arrival that was not served"

// written returns a reading's value as it is written: null if it is not known, or infinite, which JSON cannot say.
func written(r figure.Reading) (v *float64, infinite bool) {
	if !r.Known() || r.Infinite() {
		return nil, r.Infinite()
	}
	return &r.Value, false
}

// asksForViolations reports whether the threshold is on the number of violations and the run meets it: the symptom of an
// incident may be one. All other numbers of the run are void.
func (t Threshold) asksForViolations(r results.Run) bool {
	return t.figure.Name == figure.Violations && t.operand.kind == ofValue && t.op.Holds(float64(r.Safety.Violations), t.operand.value)
}

// A limit is the value that a figure is compared with. If verdict is set, no comparison is possible, and why gives
// the reason.
type limit struct {
	figure.Reading
	verdict results.Verdict
	why     string
}

func (c evaluation) limit(t Threshold, at int) limit {
	switch o := t.operand; o.kind {
	case ofRun:
		return c.limitOfRun(o, at)
	case ofBaseline:
		return c.limitOfBaseline(t, at)
	default:
		return limit{Reading: figure.Exactly(o.value)}
	}
}

// none returns the limit of what there is nothing to compare with.
func none(v results.Verdict, why string) limit {
	return limit{Reading: figure.Reading{Unknown: why}, verdict: v, why: why}
}

// limitOfRun returns the limit of a ratio to another run of the file.
func (c evaluation) limitOfRun(o operand, at int) limit {
	i, err := o.partner(at, c.rows)
	if err != nil {
		return none(results.Invalid, err.Error())
	}
	run, who := c.file.Runs[i], strings.TrimSuffix(c.rows[i].String(), ":")
	if run.Safety.Violations > 0 {
		return none(results.Fail, who+": the form violated safety")
	}
	return limit{Reading: o.other.figure.Read(run).Times(o.value).Named(who)}
}

// A Noise returns by which share a figure differs between two runs with the same setting on this
// machine, and where that number comes from. The share is 0 if it is unknown.
type Noise func(r results.Run, figure string) (share float64, known string)

// Excuse makes a regression against the baseline inconclusive if the figure exceeds its limit by no
// more than the noise floor. It applies only to figures that depend on the machine, not to counts.
func Excuse(gates []results.Gate, runs []results.Run, noise Noise) {
	for i := range gates {
		g := &gates[i]
		if g.Verdict != results.Regression || g.Run < 0 || g.Measured == nil || g.Limit == nil {
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
