package compare

import (
	"fmt"
	"math"
	"slices"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figure"
	"github.com/stampede-bench/stampede/results/stats"
)

// A Subject is the runs of base and candidate with the same settings, except for the compared one.
type Subject struct {
	Name    string // "" if there is only one subject
	Base    []results.Run
	New     []results.Run // in pairs, in the order of Base
	Figures []Figure
	// Sequence says of saved runs, which are no pairs, which of them were of New, in the order of their
	// time: runs of Base and New follow each other in it. If it is nil, those of New came after all of Base.
	Sequence []bool
}

// sequence returns the sequence of saved runs.
func (s Subject) sequence() []bool {
	if s.Sequence != nil {
		return s.Sequence
	}
	return slices.Concat(make([]bool, len(s.Base)), slices.Repeat([]bool{true}, len(s.New)))
}

// Rules are the rules of the verdicts.
type Rules struct {
	Paired  bool
	Minimum float64 // the minimum effect, a share
	// Floor returns the noise floor of a figure, a share, 0 if it is not known. A smaller estimate
	// shows nothing. The margin of a pass is Minimum, whatever the floor.
	Floor func(subject, figure string) float64
	// Looks are the numbers of pairs after which a sequential comparison is judged, nil if it is judged
	// once. Each look may use an equal share of the permitted error: see [stats.Looks].
	Looks []int
}

// Decided reports whether further pairs cannot change the verdict of a sequential comparison: a gated
// figure is a regression or safety was violated, or all gated figures pass.
func Decided(all []results.Change) bool {
	v := Verdict(all)
	return v == results.Regression || v == results.Fail || v == results.Pass || v == results.Improvement
}

// Changes returns the changes of all figures of all subjects. The gated ones are judged together. It
// simulates the comparison to say what it can detect.
func (r Rules) Changes(subjects []Subject) []results.Change {
	return r.written(r.changes(subjects), true)
}

// Judge returns the changes without what can be detected, which takes a moment to simulate.
func (r Rules) Judge(subjects []Subject) []results.Change {
	return r.written(r.changes(subjects), false)
}

func (r Rules) changes(subjects []Subject) (all []change) {
	for _, s := range subjects {
		for _, m := range s.Figures {
			if c, ok := r.change(s, m); ok {
				all = append(all, c)
			}
		}
	}
	return all
}

// written judges the changes and returns them as they are written to a file.
func (r Rules) written(all []change, power bool) []results.Change {
	together := r.judge(all)
	if power && len(together) > 0 {
		r.measurePower(together)
	}
	changes := []results.Change{}
	for _, c := range all {
		changes = append(changes, c.Change)
	}
	return changes
}

// A change is a change without a final verdict.
type change struct {
	results.Change
	better figure.Direction
	timed  bool
	figure stats.Figure // of the log ratios; without a sample if there is nothing to test
	test   stats.Test
	pairs  int

	doubted string  // why too many of the runs are doubtful, "" if they are not
	against *change // the change as far against the claim as the doubts reach, nil if nothing is claimed that can hold
}

// change estimates the change of one figure, without a final verdict. It returns false for a figure that
// is neither gated nor known.
func (r Rules) change(s Subject, m Figure) (change, bool) {
	runs := slices.Concat(s.Base, s.New)
	f, unknown := m.measuredIn(runs)
	c := change{better: f.Better, timed: f.Timed(), Change: results.Change{Subject: s.Name, Figure: f.Name, Unit: string(f.Unit), Gated: m.Gated, Minimum: r.Minimum}}
	if r.Floor != nil && f.Timed() {
		c.Floor = r.Floor(s.Name, f.Name)
	}
	base, others := readings(f, s.Base), readings(f, s.New)
	if len(base) == 0 || len(others) == 0 || unknown > 0 && !m.Gated {
		c.void(results.Invalid, "n/a: too few observations")
		return c, m.Gated
	}
	c.setMedians(stats.Median(values(base)).Value, stats.Median(values(others)).Value)
	if unknown > 0 {
		c.void(results.Invalid, fmt.Sprintf("n/a in %d of %d runs: too few observations; a longer --duration has more", unknown, len(runs)))
		return c, true
	}
	exact := f.Better != figure.Neither && !slices.ContainsFunc(runs, func(r results.Run) bool { return !f.Exact(r) })
	weighed := func(base, others []float64) change {
		c := c
		r.weigh(&c, base, others, s.sequence(), exact)
		return c
	}
	is := weighed(values(base), values(others))
	if is.doubted = f.Void(runs); is.doubted != "" {
		is.against = is.furthest(base, others, weighed)
	}
	if why := broken(runs); why != "" {
		is.doubted = ""
		is.void(results.Fail, why)
	}
	return is, true
}

// weigh compares the values of both sides: it decides, or sets what is tested.
func (r Rules) weigh(c *change, base, others []float64, sequence []bool, exact bool) {
	if endless(base)+endless(others) > 0 {
		r.compareEndless(c, base, others)
	} else {
		r.estimate(c, base, others, sequence)
	}
	if exact && (c.Verdict == "" || c.Verdict == results.Inconclusive) {
		c.compareExactly(base, others)
	}
}

// setMedians sets the medians, of which JSON cannot write an infinite one.
func (c *change) setMedians(base, other float64) {
	c.Base, c.New = base, other
	if c.BaseInfinite = math.IsInf(base, 1); c.BaseInfinite {
		c.Base = 0
	}
	if c.NewInfinite = math.IsInf(other, 1); c.NewInfinite {
		c.New = 0
	}
}

// endless returns how many values are infinite.
func endless(values []float64) (n int) {
	for _, v := range values {
		if math.IsInf(v, 1) {
			n++
		}
	}
	return n
}

// compareEndless decides a figure that is infinite in some runs: a size or an interval of the change it has none. If one
// side has it in all runs and the other one in none, no noise explains that.
func (r Rules) compareEndless(c *change, base, others []float64) {
	enough := stats.Enough(len(base), len(others), 1)
	if r.Paired {
		enough = len(base) >= stats.FewestPairs(r.looks())
	}
	b, n := endless(base), endless(others)
	verdict := results.Inconclusive
	switch {
	case enough && b == 0 && n == len(others):
		verdict = results.Regression
	case enough && b == len(base) && n == 0:
		verdict = results.Improvement
	}
	c.void(verdict, fmt.Sprintf("arrivals were not served: infinite in %d of %d runs of the base and %d of %d of the candidate", b, len(base), n, len(others)))
}

func (c *change) void(v results.Verdict, why string) { c.Verdict, c.Why = v, why }

// estimate computes the size of the change and its confidence interval.
func (r Rules) estimate(c *change, base, others []float64, sequence []bool) {
	var sample stats.Sample
	if r.Paired {
		d := make(stats.Pairs, len(base))
		for i := range d {
			d[i] = logRatio(base[i], others[i])
			if ratio := math.Exp(d[i]); !math.IsInf(ratio, 0) {
				c.Ratios = append(c.Ratios, ratio)
			}
		}
		sample, c.pairs = d, len(d)
	} else {
		if !stats.Enough(len(base), len(others), 1) {
			c.void(results.Inconclusive, "") // the number of runs needed is reported once, for all figures
			return
		}
		sample = stats.NewContrast(inOrder(base, others, sequence), sequence)
	}
	wanted := stats.Strict(r.looks())
	e := sample.Interval(wanted)
	if e.Confidence < wanted {
		c.void(results.Inconclusive, fmt.Sprintf("%d pairs show nothing: it takes %d", len(base), stats.FewestPairs(r.looks())))
		return
	}
	c.figure = stats.Figure{Sample: sample, Lower: c.better == figure.More, Timed: c.timed,
		Limits: stats.Limits{Minimum: c.worse(c.Minimum), Floor: c.worse(c.Floor)}}
	c.test = c.figure.Test(e, 0, r.looks())
	p := c.test.P
	c.P = &p
	if !math.IsInf(e.High, 1) {
		c.Effect = &results.Estimate{Value: math.Expm1(e.Value), Low: math.Expm1(e.Low), High: math.Expm1(e.High), Confidence: e.Confidence}
	}
}

// inOrder returns the logarithms of the values of both sides in the order of their time.
func inOrder(base, others []float64, sequence []bool) []float64 {
	all := make([]float64, len(sequence))
	for i, other := range sequence {
		from := &base
		if other {
			from = &others
		}
		all[i], *from = math.Log((*from)[0]), (*from)[1:]
	}
	return all
}

func (r Rules) looks() int { return max(len(r.Looks), 1) }

// logRatio returns 0 if both values are equal, also if both are 0.
func logRatio(base, other float64) float64 {
	if base == other {
		return 0
	}
	return math.Log(other) - math.Log(base)
}

// judge sets the verdicts of the changes, unless they have one already, and returns those that are tested together. It
// does so twice where runs are doubtful: see [change.settle].
func (r Rules) judge(all []change) (together []*change) {
	var measured, against []*change
	for i := range all {
		c, least := &all[i], all[i].against
		if least == nil {
			least = new(*c) // counts among the figures that are tested together
		}
		measured, against = append(measured, c), append(against, least)
	}
	together = test(measured)
	test(against)
	for i, c := range measured {
		c.settle(against[i].Verdict)
	}
	return together
}

// test sets the verdicts of the changes, unless they have one already. It corrects for the number of gated
// figures that are tested together, and returns these.
func test(all []*change) (together []*change) {
	var tests []stats.Test
	for _, c := range all {
		switch {
		case c.P == nil:
		case c.Gated:
			together, tests = append(together, c), append(tests, c.test)
		default:
			c.decide(*c.P)
		}
	}
	_, adjusted := stats.Judge(tests)
	for i, c := range together {
		c.Adjusted = &adjusted[i]
		c.decide(adjusted[i])
	}
	return together
}

// measurePower computes the power and the detectable effect of the figures that are tested together.
func (r Rules) measurePower(together []*change) {
	var figures []stats.Figure
	var of []*change
	pairs := 0
	for _, c := range together {
		width := c.test.High - c.test.Low // NaN where one side has only zeros: both ends are infinite
		if c.better != figure.Neither && !math.IsInf(width, 0) && !math.IsNaN(width) {
			figures, of = append(figures, c.figure), append(of, c)
			pairs = c.pairs
		}
	}
	simulation := stats.Simulate(figures, results.UntilSure{Looks: r.Looks}.JudgedAfter(pairs), r.looks())
	for i, c := range of {
		size, can := simulation.Detectable(i)
		if !can {
			continue
		}
		power := simulation.Power(i, c.figure.Minimum)
		if c.better == figure.More {
			size = -size
		}
		detectable := math.Abs(math.Expm1(size))
		c.Power, c.Detectable = &power, &detectable
	}
}

// worse returns the logarithm of a change by the share for the worse.
func (c *change) worse(share float64) float64 {
	if c.better == figure.More {
		return -math.Log1p(-min(share, 1)) // a value cannot fall below 0
	}
	return math.Log1p(share)
}

// decide sets the verdict by the adjusted probability, unless there is one already.
func (c *change) decide(p float64) {
	t := c.test
	if c.Verdict != "" || c.better == figure.Neither {
		return
	}
	decision := stats.Decide(t.Estimate, p, t.Limits)
	anyway := stats.Decide(t.Estimate, p, stats.Limits{Minimum: t.Minimum})
	if decision == stats.Inconclusive && anyway == stats.Regression {
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
	ratios, order := map[string][]float64{}, []string{} // logarithms of ratios
	for _, c := range all {
		if !(c.Base > 0 && c.New > 0) {
			continue
		}
		if ratios[c.Figure] == nil {
			order = append(order, c.Figure)
		}
		ratios[c.Figure] = append(ratios[c.Figure], math.Log(c.New/c.Base))
	}
	for _, figure := range order {
		if r := ratios[figure]; len(r) > 1 {
			means = append(means, results.Mean{Figure: figure, Change: math.Exp(stats.Mean(r)) - 1, Subjects: len(r)})
		}
	}
	return means
}
