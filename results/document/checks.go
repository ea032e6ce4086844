package document

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/units"
)

// A Check is one condition on a result, with its outcome.
type Check struct {
	Suite    string // what it belongs to, such as a recipe and its backend
	Recipe   string // recipe and form name a class of checks
	Form     string
	Subject  string // which run of the form
	About    string // what the check is about, in full: "lock/one-node, 8 clients"
	Group    string // "thresholds", "objectives", "safety", "identities", "counts" or "figures"
	Name     string // the condition
	Measured string // "" if there is no measurement, as for safety
	Limit    string
	Verdict  results.Verdict
	Why      string
	Took     time.Duration
}

// The groups of checks.
const (
	thresholds = "thresholds"
	objectives = "objectives"
	safety     = "safety"
	identities = "identities"
	counts     = "counts"
	figures    = "figures"
)

// delivery is the name of the check of the notifications, with which its details begin.
const delivery = "watch delivery"

// Passed reports whether the check passed.
func (c Check) Passed() bool { return c.Verdict == results.Pass || c.Verdict == results.Improvement }

// Text describes the outcome: "handoff.p99<50ms: measured 61.2 ms, limit 50.0 ms".
func (c Check) Text() string {
	parts := []string{c.Name}
	if c.Measured != "" || c.Limit != "" {
		parts = append(parts, fmt.Sprintf("measured %s, limit %s", c.Measured, c.Limit))
	}
	if c.Why != "" {
		parts = append(parts, c.Why)
	}
	return strings.Join(parts, ": ")
}

// Worst returns the checks that did not pass: safety violations, then the rest from the worst.
func (d Document) Worst() []Check {
	all := slices.DeleteFunc(slices.Clone(d.Checks), Check.Passed)
	severity := func(c Check) int {
		if c.Group == safety && c.Verdict == results.Fail {
			return 4
		}
		return slices.Index([]results.Verdict{results.Inconclusive, results.Invalid, results.Regression, results.Fail}, c.Verdict)
	}
	slices.SortStableFunc(all, func(a, b Check) int { return severity(b) - severity(a) })
	return all
}

// checkRuns adds the checks of a file: thresholds, safety and identities.
func (d *Document) checkRuns(f results.File) {
	for _, g := range f.Gates {
		if g.Run < 0 || g.Run >= len(f.Runs) {
			d.Checks = append(d.Checks, Check{Suite: thresholds, Recipe: "stampede", Form: thresholds, Subject: g.Subject, About: g.Subject}.threshold(g))
		}
	}
	for i, r := range f.Runs {
		of := checkOf(r.Scenario, r.Recipe, r.Form, r.Backend, r.Clients)
		for _, g := range f.Gates {
			if g.Run == i {
				d.Checks = append(d.Checks, of.threshold(g))
			}
		}
		d.Checks = append(d.Checks, of.safety(r.Safety, r.DurationNS))
		if s := r.Safety; s.Notifications+s.Undelivered > 0 {
			d.Checks = append(d.Checks, of.delivery(s, r.DurationNS))
		}
		if r.Cost.Expected != nil {
			for _, id := range r.Cost.Expected.Identities {
				d.Checks = append(d.Checks, of.identity(id))
			}
		}
	}
	d.decide(f)
}

// decide sets the verdict: that of the thresholds, if there are any, or of an undecided objective, a safety
// violation or a broken identity.
func (d *Document) decide(f results.File) {
	d.Verdict = f.Verdict
	for _, c := range d.Checks {
		if c.Group != thresholds && c.Verdict != results.Inconclusive && !c.Passed() {
			d.Verdict = results.Worst(d.Verdict, c.Verdict)
		}
	}
	if d.Verdict != "" {
		d.Reason = reason(f, d.Verdict)
	}
	d.judge("run", f.Gates, func(g results.Gate) string { return aboutGate(f, g) }, func(g results.Gate) bool {
		if g.Run < 0 || g.Run >= len(f.Runs) {
			return false
		}
		r := f.Runs[g.Run]
		return strings.HasPrefix(g.Text, fmt.Sprintf("%s/%s@%d.", r.Recipe, r.Form, r.Clients))
	})
}

// checkOf returns the fields that all checks of a form with one number of clients have in common.
func checkOf(scenario, recipe, form string, b results.Backend, clients int) Check {
	c := Check{Suite: recipe + " on " + b.URL, Recipe: recipe, Form: form, Subject: units.Clients(clients)}
	c.About = fmt.Sprintf("%s/%s, %s", recipe, form, c.Subject)
	if scenario != "" {
		c.Suite = scenario + ": " + c.Suite
	}
	return c
}

// threshold returns the check of a threshold; it is inconclusive if there is no verdict.
func (c Check) threshold(g results.Gate) Check {
	c.Group, c.Name, c.Verdict, c.Why = thresholds, g.Text, cmp.Or(g.Verdict, results.Inconclusive), g.Why
	c.Measured, c.Limit = amounts(g)
	return c
}

// safety checks the safety guarantee of the recipe. It is inconclusive if safety was never checked.
func (c Check) safety(s results.Safety, took time.Duration) Check {
	c.Group, c.Name, c.Took, c.Verdict = safety, safety, took, results.Pass
	switch violations := s.Violations - s.Undelivered; {
	case violations > 0:
		c.Verdict = results.Fail
		c.Why = fmt.Sprintf("violated %s times in %s checks, so the figures are void", units.Count(violations), units.Count(s.Checked))
		own := slices.DeleteFunc(firstOfEach(s), func(d string) bool { return strings.HasPrefix(d, delivery) })
		if len(own) > 0 {
			c.Why += ": " + strings.Join(own, "; ")
		}
	case s.Checked == 0:
		c.Verdict, c.Why = results.Inconclusive, "not checked"
	}
	return c
}

// firstOfEach returns the first detail of each kind of check, and why the run ended early. A notification that is not
// delivered as promised comes first: it can be the cause of what the recipe's own check found.
func firstOfEach(s results.Safety) (details []string) {
	undelivered := func(d string) bool { return strings.HasPrefix(d, delivery) }
	ended := func(d string) bool { return strings.HasPrefix(d, metrics.EndedEarly) }
	for _, of := range []func(string) bool{undelivered, func(d string) bool { return !undelivered(d) && !ended(d) }, ended} {
		if i := slices.IndexFunc(s.Details, of); i >= 0 {
			details = append(details, s.Details[i])
		}
	}
	return details
}

// delivery checks that the service delivered its notifications as its protocol promises.
func (c Check) delivery(s results.Safety, took time.Duration) Check {
	c.Group, c.Name, c.Took, c.Verdict = safety, delivery, took, results.Pass
	c.Why = fmt.Sprintf("%s notifications, each once, in order, and before what it announces", units.Count(s.Notifications))
	if s.Undelivered > 0 {
		c.Verdict = results.Fail
		c.Why = fmt.Sprintf("violated %s times in %s notifications, so the figures are void", units.Count(s.Undelivered), units.Count(s.Notifications))
		for _, detail := range firstOfEach(s) {
			if strings.HasPrefix(detail, delivery) {
				c.Why += strings.TrimPrefix(detail, delivery)
			}
		}
	}
	return c
}

func (c Check) identity(i results.Identity) Check {
	c.Group, c.Name, c.Verdict = identities, i.Formula, results.Pass
	if !i.Holds {
		c.Verdict = results.Regression
		c.Why = fmt.Sprintf("does not hold: %s and %s", units.Count(i.Left), units.Count(i.Right))
	}
	return c
}

// exact checks a count against the model and the server.
func (c Check) exact(e results.Exact) Check {
	c.Group, c.Verdict = counts, results.Pass
	var differs []string
	if !e.Equal() {
		c.Measured, c.Limit = units.Count(e.Counted), fmt.Sprintf("%s = %s", expected(e), e.Formula)
		differs = append(differs, "differs from the model")
	}
	if !e.Agreed() {
		differs = append(differs, fmt.Sprintf("stampede counted %s, the server %s", units.Count(e.Counted), units.Count(*e.Server)))
	}
	if len(differs) > 0 {
		c.Verdict, c.Why = results.Regression, strings.Join(differs, ", ")
	}
	return c
}

// amounts formats what was measured and the limit, so that they differ where they are different.
func amounts(g results.Gate) (measured, limit string) {
	m, l := cmp.Or(g.Measured, g.Limit, new(float64)), cmp.Or(g.Limit, g.Measured, new(float64))
	measured, limit = units.Apart(*m, *l, g.Unit)
	switch {
	case g.MeasuredInfinite:
		measured = units.Infinite
	case g.Measured == nil:
		measured = units.Absent
	}
	switch {
	case g.LimitInfinite:
		limit = units.Infinite
	case g.Limit == nil:
		return measured, units.Absent
	}
	return measured, strings.TrimSpace(sign(g.Op) + " " + limit)
}

// sign formats an operator for people: "≤".
func sign(op string) string {
	return cmp.Or(map[string]string{"<=": "≤", ">=": "≥", "==": "="}[op], op)
}

// reason returns the reason for the verdict on a file.
func reason(f results.File, v results.Verdict) string {
	all := levels.Grouped(f.Gates, sameThreshold)
	outcomes := map[results.Verdict]int{} // a threshold counts once, by its worst verdict
	for _, of := range all {
		worst := results.Verdict("")
		for _, g := range of {
			worst = results.Worst(worst, g.Verdict)
		}
		outcomes[worst]++
	}
	which := func(verdicts ...results.Verdict) string {
		n := 0
		for _, v := range verdicts {
			n += outcomes[v]
		}
		switch {
		case n == 0:
			return ""
		case len(all) == 1:
			return "the threshold is"
		case n == 1:
			return fmt.Sprintf("1 of %d thresholds is", len(all))
		}
		return fmt.Sprintf("%d of %d thresholds are", n, len(all))
	}
	if results.Unsafe(f.Runs) {
		return "a form violated safety; the numbers are void."
	}
	switch v {
	case results.Fail, results.Regression:
		unmet, undecided := which(results.Fail, results.Regression), which(results.Invalid, results.Inconclusive)
		switch {
		case unmet != "" && undecided != "":
			return unmet + " not met, and " + undecided + " not decided."
		case unmet != "":
			return unmet + " not met."
		}
		return "a count is not what holds under any schedule."
	case results.Invalid, results.Inconclusive:
		if undecided := which(results.Invalid, results.Inconclusive); undecided != "" {
			return undecided + " not decided."
		}
		return "the objective is not decided."
	}
	return which(results.Pass, results.Improvement) + " met."
}

// mostGates is the maximum number of lines for one threshold that is not met.
const mostGates = 5

// judge makes the table of the thresholds. For each, it has a line for the runs that meet it, with the
// values of the run closest to the limit, and a line for each run that does not, up to mostGates lines. The
// column of the runs is left out if the text of each threshold names its run.
func (d *Document) judge(what string, gates []results.Gate, about func(results.Gate) string, named func(results.Gate) bool) {
	t := Table{Title: "Thresholds", Columns: columns(3, "<threshold", "<"+what, "measured", "limit", "<verdict")}
	t.Columns[1].Key = true
	last := &t.Columns[4]
	allNamed := true
	line := func(g results.Gate, of string, v results.Verdict, values ...string) {
		t.Rows = append(t.Rows, append([]string{title(g), of}, values...))
		last.Verdicts = append(last.Verdicts, v)
	}
	decided := func(g results.Gate, of string) {
		measured, limit := amounts(g)
		line(g, of, g.Verdict, measured, limit, string(g.Verdict))
	}
	for _, of := range levels.Grouped(gates, sameThreshold) {
		var met, not []results.Gate
		for _, g := range of {
			if g.Verdict == results.Pass || g.Verdict == results.Improvement {
				met = append(met, g)
			} else {
				not = append(not, g)
			}
		}
		shown := not[:min(len(not), mostGates)]
		for _, g := range shown {
			decided(g, about(g))
			allNamed = allNamed && named(g)
		}
		for _, same := range levels.Grouped(shown, func(a, b results.Gate) bool { return a.Why == b.Why }) {
			t.Notes = append(t.Notes, whyOf(same, len(same) < len(shown), about)...)
		}
		if more := len(not) - mostGates; more > 0 {
			line(of[0], fmt.Sprintf("and %s more", units.Count(int64(more))), "", "", "", "")
			allNamed = false
		}
		switch {
		case len(met) == 1:
			decided(met[0], about(met[0]))
			allNamed = allNamed && named(met[0])
		case len(met) > 1:
			closest := slices.MaxFunc(met, func(a, b results.Gate) int { return cmp.Compare(closeness(a), closeness(b)) })
			decided(closest, units.Plural(len(met), "run"))
			allNamed = false
		}
	}
	if allNamed {
		t.drop(what)
	}
	d.Thresholds = t
}

// whyOf returns the reason that gates of one threshold share, with their runs if they are to be named;
// nothing if there is no reason.
func whyOf(same []results.Gate, named bool, about func(results.Gate) string) []string {
	if same[0].Why == "" {
		return nil
	}
	name := title(same[0])
	if named {
		var runs []string
		for _, g := range same {
			runs = append(runs, about(g))
		}
		name += ", " + strings.Join(runs, "; ")
	}
	return []string{name + ": " + same[0].Why}
}

// closeness is greater the closer the value of a gate that is met is to its limit.
func closeness(g results.Gate) float64 {
	if g.Measured == nil || g.Limit == nil { // infinitely far, on the right side
		return math.Inf(-1)
	}
	if strings.HasPrefix(g.Op, ">") {
		return *g.Limit - *g.Measured
	}
	return *g.Measured - *g.Limit
}

func sameThreshold(a, b results.Gate) bool { return title(a) == title(b) }

// title returns the threshold, with its scenario if it has one.
func title(g results.Gate) string { return strings.TrimPrefix(g.Scenario+": "+g.Text, ": ") }

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
