package compare

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figure"
	"github.com/stampede-bench/stampede/results/stats"
)

// A Subject is the runs of base and candidate with the same settings, except for the compared one.
type Subject struct {
	Name    string // "" if there is only one subject
	Base    []results.Run
	New     []results.Run // in pairs, in the order of Base
	Metrics []Metric
}

// Rules are the rules of the verdicts.
type Rules struct {
	Paired  bool
	Minimum float64 // the minimum effect, a share
	// Floor returns the noise floor of a figure, a share, 0 if it is not known. A smaller estimate
	// shows nothing. The margin of a pass is Minimum, whatever the floor.
	Floor func(subject, figure string) float64
	// Looks is how often the pairs of a sequential comparison are judged while they come, 0 if they are
	// judged once. Each look may use an equal share of the permitted error: see [stats.Looks].
	Looks int
}

// Decided reports whether further pairs cannot change the verdict of a sequential comparison: a gated
// figure is a regression or safety was violated, or all gated figures pass.
func Decided(all []results.Change) bool {
	v := Verdict(all)
	return v == results.Regression || v == results.Fail || v == results.Pass || v == results.Improvement
}

// Changes returns the changes of all metrics of all subjects. The gated ones are judged together.
func (r Rules) Changes(subjects []Subject) []results.Change {
	var all []change
	for _, s := range subjects {
		for _, m := range s.Metrics {
			if c, ok := r.change(s, m); ok {
				all = append(all, c)
			}
		}
	}
	r.adjust(all)
	written := []results.Change{}
	for _, c := range all {
		c.decide()
		written = append(written, c.Change)
	}
	return written
}

// A change is a change without a final verdict.
type change struct {
	results.Change
	better figure.Direction
	logs   stats.Estimate                          // of the log ratios
	at     func(confidence float64) stats.Estimate // the same for another confidence
}

// change estimates the change of one metric, without a final verdict. It returns false for a metric that
// is neither gated nor known.
func (r Rules) change(s Subject, m Metric) (change, bool) {
	runs := slices.Concat(s.Base, s.New)
	f, unknown := m.in(runs)
	c := change{better: f.Better, Change: results.Change{Subject: s.Name, Figure: f.Name, Unit: string(f.Unit), Gated: m.Gated, Minimum: r.Minimum}}
	if r.Floor != nil && f.Timed() {
		c.Floor = r.Floor(s.Name, f.Name)
	}
	base, others := values(f, s.Base), values(f, s.New)
	if len(base) == 0 || len(others) == 0 || unknown > 0 && !m.Gated {
		c.void(results.Invalid, "n/a: too few observations")
		return c, m.Gated
	}
	c.Base, c.New = stats.Median(base).Value, stats.Median(others).Value
	if unknown > 0 {
		c.void(results.Invalid, fmt.Sprintf("n/a in %d of %d runs: too few observations; a longer --duration has more", unknown, len(runs)))
		return c, true
	}
	r.estimate(&c, base, others)
	if why := doubts(f, runs); why != "" {
		c.void(results.Invalid, why)
	}
	if why := broken(runs); why != "" {
		c.void(results.Fail, why)
	}
	if c.Verdict == "" && !f.Timed() && f.Better != figure.Neither {
		c.compareExactly(base, others)
	}
	return c, true
}

func (c *change) void(v results.Verdict, why string) { c.Verdict, c.Why = v, why }

func values(f figure.Figure, runs []results.Run) (all []float64) {
	for _, r := range runs {
		if v, known := f.RunValue(r); known {
			all = append(all, v)
		}
	}
	return all
}

// estimate computes the size of the change and its confidence interval.
func (r Rules) estimate(c *change, base, others []float64) {
	var p float64
	if r.Paired {
		d := make([]float64, len(base))
		for i := range d {
			d[i] = logRatio(base[i], others[i])
			if ratio := math.Exp(d[i]); !math.IsInf(ratio, 0) {
				c.Ratios = append(c.Ratios, ratio)
			}
		}
		p = min(1, stats.PairsP(d)*float64(r.looks()))
		c.at = func(confidence float64) stats.Estimate { return stats.PairsAt(d, confidence) }
	} else {
		p = stats.ShiftP(base, others)
		c.at = func(confidence float64) stats.Estimate { return stats.ShiftAt(logs(base), logs(others), confidence) }
	}
	wanted := stats.Strict(r.looks())
	c.logs = c.at(wanted)
	switch {
	case c.logs.Confidence < wanted && r.Paired:
		c.void(results.Inconclusive, fmt.Sprintf("%d pairs show nothing: it takes %d", len(base), stats.FewestPairs(r.looks())))
		return
	case c.logs.Confidence < wanted:
		c.void(results.Inconclusive, "") // the number of runs needed is reported once, for all figures
		return
	}
	c.P = &p
	if e := c.logs; !math.IsInf(e.High, 1) {
		c.Effect = &results.Estimate{Value: math.Expm1(e.Value), Low: math.Expm1(e.Low), High: math.Expm1(e.High), Confidence: e.Confidence}
	}
}

func (r Rules) looks() int { return max(r.Looks, 1) }

func logs(values []float64) []float64 {
	all := make([]float64, len(values))
	for i, v := range values {
		all[i] = math.Log(v)
	}
	return all
}

// logRatio returns 0 if both values are equal, also if both are 0.
func logRatio(base, other float64) float64 {
	if base == other {
		return 0
	}
	return math.Log(other) - math.Log(base)
}

// adjust corrects for the number of gated figures that are tested together.
func (r Rules) adjust(all []change) {
	var p []float64
	var of []*change
	for i := range all {
		if c := &all[i]; c.Gated && c.P != nil {
			p, of = append(p, *c.P), append(of, c)
		}
	}
	for i, adjusted := range stats.Holm(p) {
		of[i].Adjusted = &adjusted
	}
	for i := range all {
		tested := 1
		if all[i].Gated {
			tested = len(p)
		}
		all[i].measurePower(tested * r.looks())
	}
}

// measurePower computes the power and the detectable effect of a figure that is tested that many times:
// together with others, and at each look.
func (c *change) measurePower(tested int) {
	if c.P == nil || c.better == figure.Neither {
		return
	}
	precision, known := stats.PrecisionOf(c.logs, c.at(stats.Strict(tested)), tested, c.worse(c.Floor))
	if !known {
		return
	}
	power, detectable := precision.Power(c.worse(c.Minimum)), precision.Detectable()
	if c.better == figure.More {
		detectable = -detectable
	}
	detectable = math.Abs(math.Expm1(detectable))
	c.Power, c.Detectable = &power, &detectable
}

// worse returns the logarithm of a change by the share for the worse.
func (c *change) worse(share float64) float64 {
	if c.better == figure.More {
		return -math.Log1p(-min(share, 1)) // a value cannot fall below 0
	}
	return math.Log1p(share)
}

// decide sets the verdict, unless there is one already.
func (c *change) decide() {
	if c.Verdict != "" || c.better == figure.Neither {
		return
	}
	worse := c.logs
	if c.better == figure.More {
		worse = stats.Estimate{Value: -worse.Value, Low: -worse.High, High: -worse.Low, Confidence: worse.Confidence}
	}
	p := *c.P
	if c.Adjusted != nil {
		p = *c.Adjusted
	}
	limits := stats.Limits{Minimum: c.worse(c.Minimum), Floor: c.worse(c.Floor)}
	decision := stats.Decide(worse, p, limits)
	if decision == stats.Inconclusive && stats.Decide(worse, p, stats.Limits{Minimum: limits.Minimum}) == stats.Regression {
		c.Why = fmt.Sprintf("worse by less than the noise floor of %s", figure.Figure{Unit: figure.Share}.Format(c.Floor))
	}
	c.Verdict = map[stats.Decision]results.Verdict{stats.Regression: results.Regression, stats.Pass: results.Pass,
		stats.Improvement: results.Improvement, stats.Inconclusive: results.Inconclusive}[decision]
}

// Verdict returns the worst verdict of the gated changes, "" if there are none.
func Verdict(all []results.Change) results.Verdict {
	var verdicts []results.Verdict
	for _, c := range all {
		if c.Gated {
			verdicts = append(verdicts, c.Verdict)
		}
	}
	return results.Worst(verdicts...)
}

// Means returns the geometric means of the changes of each figure that several subjects have.
func Means(all []results.Change) (means []results.Mean) {
	ratios, order := map[string][]float64{}, []string{}
	for _, c := range all {
		if !(c.Base > 0 && c.New > 0) {
			continue
		}
		if ratios[c.Figure] == nil {
			order = append(order, c.Figure)
		}
		ratios[c.Figure] = append(ratios[c.Figure], c.New/c.Base)
	}
	for _, figure := range order {
		if r := ratios[figure]; len(r) > 1 {
			means = append(means, results.Mean{Figure: figure, Change: stat.GeometricMean(r, nil) - 1, Subjects: len(r)})
		}
	}
	return means
}
