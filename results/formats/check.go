package formats

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/units"
	"github.com/stampede-bench/stampede/results/view"
)

// A check is one condition on a result, with its outcome.
type check struct {
	suite    string // recipe and backend
	recipe   string
	form     string
	subject  string // which run of the form
	name     string // the condition
	measured string
	limit    string
	verdict  results.Verdict
	why      string
	unsafe   bool // a safety violation
	took     time.Duration
}

// passed reports whether the check passed.
func (c check) passed() bool { return c.verdict == results.Pass || c.verdict == results.Improvement }

// text describes the outcome: "handoff.p99<50ms: measured 61.2 ms, limit 50.0 ms".
func (c check) text() string {
	parts := []string{c.name}
	if c.measured != "" || c.limit != "" {
		parts = append(parts, fmt.Sprintf("measured %s, limit %s", c.measured, c.limit))
	}
	if c.why != "" {
		parts = append(parts, c.why)
	}
	return strings.Join(parts, ": ")
}

// checks returns the checks of a result: gates, safety, identities, exact counts and changes.
func checks(v results.Result) []check {
	switch v := v.(type) {
	case results.File:
		return ofFile(v)
	case results.Sweep:
		return ofFile(v.File)
	case results.CountReport:
		return ofCount(v)
	case results.Comparison:
		return ofComparison(v)
	case results.History:
		return ofHistory(v)
	}
	return nil
}

// verdictOf returns the worst verdict of the checks and of the result itself, "" if there are none.
func verdictOf(v results.Result) results.Verdict {
	var all []results.Verdict
	for _, c := range checks(v) {
		all = append(all, c.verdict)
	}
	switch v := v.(type) {
	case results.File:
		all = append(all, v.Verdict)
	case results.Sweep:
		all = append(all, v.Verdict)
	case results.Comparison:
		all = append(all, v.Verdict)
	case results.History:
		return v.Verdict // an improvement of one figure outweighs those that did not change
	}
	return results.Worst(all...)
}

func ofFile(f results.File) (all []check) {
	for _, g := range f.Gates {
		if g.Run < 0 || g.Run >= len(f.Runs) { // a gate without a run
			all = append(all, check{suite: "thresholds", recipe: "stampede", form: "thresholds", subject: g.Subject}.gate(g))
		}
	}
	for i, r := range f.Runs {
		of := checkOf(r)
		for _, g := range f.Gates {
			if g.Run == i {
				all = append(all, of.gate(g))
			}
		}
		all = append(all, of.safety(r.Safety, r.DurationNS))
		if r.Cost.Expected == nil {
			continue
		}
		for _, id := range r.Cost.Expected.Identities {
			all = append(all, of.identity(id))
		}
	}
	return all
}

// checkOf returns the fields that all checks of a run have in common.
func checkOf(r results.Run) check {
	c := check{suite: r.Recipe + " on " + r.Backend.URL, recipe: r.Recipe, form: r.Form, subject: units.Clients(r.Clients)}
	if r.Scenario != "" {
		c.suite = r.Scenario + ": " + c.suite
	}
	return c
}

func (c check) gate(g results.Gate) check {
	c.name, c.verdict, c.why = g.Text, g.Verdict, g.Why
	c.measured, c.limit = amount(g.Unit, g.Measured), amount(g.Unit, g.Limit)
	return c.decided()
}

// decided sets the verdict to inconclusive if there is none.
func (c check) decided() check {
	if c.verdict == "" {
		c.verdict = results.Inconclusive
	}
	return c
}

// absent replaces a value that is not known.
const absent = "n/a"

func amount(unit string, v *float64) string {
	if v == nil {
		return absent
	}
	return units.Value(*v, unit)
}

// safety checks the safety guarantee of the recipe. It is inconclusive if safety was never checked.
func (c check) safety(s results.Safety, took time.Duration) check {
	c.name, c.took, c.verdict = "safety", took, results.Pass
	switch {
	case s.Violations > 0:
		c.verdict, c.unsafe = results.Fail, true
		c.why = fmt.Sprintf("violated %s times in %s checks, so the figures are void", units.Count(s.Violations), units.Count(s.Checked))
		if len(s.Details) > 0 {
			c.why += ": " + s.Details[0]
		}
	case s.Checked == 0:
		c.verdict, c.why = results.Inconclusive, "not checked"
	}
	return c
}

func (c check) identity(i results.Identity) check {
	c.name, c.verdict = i.Formula, results.Pass
	if !i.Holds {
		c.verdict = results.Regression
		c.why = fmt.Sprintf("does not hold: %s and %s", units.Count(i.Left), units.Count(i.Right))
	}
	return c
}

func ofCount(r results.CountReport) (all []check) {
	for _, s := range r.Settled {
		of := check{suite: s.Recipe + " on " + s.Backend.URL, recipe: s.Recipe, form: s.Form, subject: units.Clients(s.Clients)}
		all = append(all, of.safety(s.Safety, 0))
		for _, e := range []struct {
			name string
			results.Exact
		}{
			{"notifications", s.Notifications}, {"reads", s.Reads}, {"writes", s.Writes},
			{"failed writes", s.FailedWrites}, {"largest fan-out", s.LargestFanout},
		} {
			if e.Expected != nil || e.Server != nil { // otherwise there is nothing to compare with
				all = append(all, of.exact(e.name, e.Exact))
			}
		}
	}
	return all
}

// exact checks a count against the model and the server.
func (c check) exact(name string, e results.Exact) check {
	c.name, c.verdict = name, results.Pass
	var differs []string
	if !e.Equal() {
		c.measured, c.limit = units.Count(e.Counted), fmt.Sprintf("%s = %s", units.Count(*e.Expected), e.Formula)
		differs = append(differs, "differs from the model")
	}
	if !e.Agreed() {
		differs = append(differs, fmt.Sprintf("stampede counted %s, the server %s", units.Count(e.Counted), units.Count(*e.Server)))
	}
	if len(differs) > 0 {
		c.verdict, c.why = results.Regression, strings.Join(differs, ", ")
	}
	return c
}

// ofComparison checks the gated figures.
func ofComparison(v results.Comparison) (all []check) {
	for _, x := range v.Changes {
		if !x.Gated {
			continue
		}
		c := check{suite: v.New.Label + " against " + v.Base.Label, recipe: "comparison", form: v.New.Label,
			subject: x.Subject, name: x.Figure, verdict: x.Verdict, why: x.Why, measured: absent,
			limit: fmt.Sprintf("%.1f %% worse", 100*x.Minimum)}
		if e := x.Effect; e != nil {
			c.measured = strings.ReplaceAll(fmt.Sprintf("%+.1f %% [%+.1f, %+.1f]", 100*e.Value, 100*e.Low, 100*e.High), "-", "−")
		}
		all = append(all, c.decided())
	}
	return all
}

// worst returns the checks that did not pass: safety violations, then the rest from the worst.
func worst(all []check) []check {
	all = slices.DeleteFunc(slices.Clone(all), check.passed)
	slices.SortStableFunc(all, func(a, b check) int {
		switch {
		case a.unsafe != b.unsafe:
			if a.unsafe {
				return -1
			}
			return 1
		case a.verdict == b.verdict:
			return 0
		case results.Worst(a.verdict, b.verdict) == a.verdict:
			return -1
		}
		return 1
	})
	return all
}

// ofHistory checks that the newest change of each figure is not for the worse.
func ofHistory(h results.History) (all []check) {
	for _, t := range h.Figures {
		c := check{suite: t.Of, recipe: "stampede", form: "history", subject: t.Of, name: t.Figure, verdict: results.Pass}
		if newest := t.Newest(); newest != nil && newest.Verdict != "" {
			c.verdict = newest.Verdict
			c.why = view.DescribeChange(t, *newest)
		}
		all = append(all, c)
	}
	return all
}
