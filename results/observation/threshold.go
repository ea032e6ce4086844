package observation

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/internal/suggest"
	"github.com/stampede-bench/stampede/metrics/observe"
	"github.com/stampede-bench/stampede/results"
)

// A Threshold is a condition on a figure of all places, or of those whose path pattern matches.
type Threshold struct {
	text    string
	pattern string // "" for all places
	figure  figure
	op      string
	limit   float64
}

// A figure is a number of a place. Where several places match, a threshold is on the largest.
type figure struct {
	name, unit string
	of         func(observe.Place) *float64
}

func figures() []figure {
	count := func(of func(observe.Place) int64) func(observe.Place) *float64 {
		return func(p observe.Place) *float64 { v := float64(of(p)); return &v }
	}
	return []figure{
		{"fanout.max", "", count(func(p observe.Place) int64 { return p.FanoutMax })},
		{"fanout.p50", "", count(func(p observe.Place) int64 { return p.FanoutP50 })},
		{"wasted", "share", wastedShare},
		{"notifications", "", count(func(p observe.Place) int64 { return p.Notifications })},
		{"changes", "", count(func(p observe.Place) int64 { return p.Changes })},
		{"sessions", "", count(func(p observe.Place) int64 { return int64(p.Sessions) })},
		{"watches", "", count(func(p observe.Place) int64 { return p.Watches })},
		{"polls.unchanged", "", count(func(p observe.Place) int64 { return p.PollsSame })},
		{"settled.p90", "ns", func(p observe.Place) *float64 { return nanoseconds(p.SettledP90) }},
		{"latency.p90", "ns", func(p observe.Place) *float64 { return nanoseconds(p.LatencyP90) }},
	}
}

func nanoseconds(n *int64) *float64 {
	if n == nil {
		return nil
	}
	v := float64(*n)
	return &v
}

func wastedShare(p observe.Place) *float64 {
	if p.Wasted == nil || *p.Useful+*p.Wasted == 0 {
		return nil
	}
	v := float64(*p.Wasted) / float64(*p.Useful+*p.Wasted)
	return &v
}

// Figures returns the names of all figures.
func Figures() (names []string) {
	for _, f := range figures() {
		names = append(names, f.name)
	}
	return names
}

// operators in an order in which none is the beginning of a later one.
var operators = []string{"<=", ">=", "==", "<", ">"}

// ParseThreshold reads a threshold such as "fanout.max <= 5" or "/controller: wasted < 10%".
func ParseThreshold(text string) (Threshold, error) {
	t := Threshold{text: text}
	rest := strings.TrimSpace(text)
	if strings.HasPrefix(rest, "/") {
		var found bool
		if t.pattern, rest, found = strings.Cut(rest, ":"); !found {
			return t, fmt.Errorf("threshold %q: want a colon after the path pattern", text)
		}
		if _, err := path.Match(t.pattern, ""); err != nil {
			return t, fmt.Errorf("threshold %q: %q is no path pattern", text, t.pattern)
		}
	}
	i := slices.IndexFunc(operators, func(o string) bool { return strings.Contains(rest, o) })
	if i < 0 {
		return t, fmt.Errorf("threshold %q: want FIGURE OPERATOR VALUE, with an operator of %s", text, strings.Join(operators, ", "))
	}
	t.op = operators[i]
	name, value, _ := strings.Cut(rest, t.op)
	if err := t.setFigure(strings.TrimSpace(name)); err != nil {
		return t, fmt.Errorf("threshold %q: %w", text, err)
	}
	if err := t.setLimit(strings.TrimSpace(value)); err != nil {
		return t, fmt.Errorf("threshold %q: %w", text, err)
	}
	return t, nil
}

func (t *Threshold) setFigure(name string) error {
	all := figures()
	i := slices.IndexFunc(all, func(f figure) bool { return f.name == name })
	if i < 0 {
		return suggest.Unknown("figure", name, Figures())
	}
	t.figure = all[i]
	return nil
}

func (t *Threshold) setLimit(value string) (err error) {
	switch {
	case t.figure.unit == "ns":
		var d time.Duration
		if d, err = time.ParseDuration(value); err != nil {
			return fmt.Errorf("%q is no duration such as 20ms", value)
		}
		t.limit = float64(d)
		return nil
	case t.figure.unit == "share" && strings.HasSuffix(value, "%"):
		t.limit, err = strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(value, "%")), 64)
		t.limit /= 100
	default:
		t.limit, err = strconv.ParseFloat(value, 64)
	}
	if err != nil {
		return fmt.Errorf("%q is no number", value)
	}
	return nil
}

// Judge judges the thresholds.
func Judge(thresholds []Threshold, r observe.Report) (gates []results.Gate, verdict results.Verdict) {
	var verdicts []results.Verdict
	for _, t := range thresholds {
		g := t.judge(r)
		gates, verdicts = append(gates, g), append(verdicts, g.Verdict)
	}
	return gates, results.Worst(verdicts...)
}

func (t Threshold) judge(r observe.Report) results.Gate {
	g := results.Gate{Text: t.text, Run: -1, Figure: t.figure.name, Unit: t.figure.unit, Op: t.op, Limit: &t.limit}
	worst, err := t.worst(r)
	if err != nil {
		g.Verdict, g.Why = results.Invalid, err.Error()
		return g
	}
	g.Subject, g.Measured = worst.Path, t.figure.of(worst)
	g.Verdict = results.Fail
	if t.met(*g.Measured) {
		g.Verdict = results.Pass
	}
	return g
}

// worst returns the place that is furthest from meeting the threshold. That no place matches a
// pattern is an error, since a mistyped pattern must not pass.
func (t Threshold) worst(r observe.Report) (worst observe.Place, err error) {
	matched := false
	var found *float64
	for _, p := range r.Places {
		if ok, _ := path.Match(t.pattern, p.Path); t.pattern != "" && !ok && t.pattern != p.Path {
			continue
		}
		matched = true
		v := t.figure.of(p)
		if v == nil || found != nil && !t.further(*v, *found) {
			continue
		}
		found, worst = v, p
	}
	switch {
	case !matched && t.pattern == "" && r.Traffic.Requests > 0:
		zero := observe.Place{Useful: new(int64), Wasted: new(int64)} // nothing was watched
		if v := t.figure.of(zero); v != nil {
			return zero, nil
		}
		return worst, errors.New("nothing was watched")
	case !matched && t.pattern == "":
		return worst, errors.New("no traffic was observed")
	case !matched:
		return worst, fmt.Errorf("no watched path matches %s", t.pattern)
	case found == nil:
		return worst, fmt.Errorf("%s is not known: it is not clear what the sessions wait for", t.figure.name)
	}
	return worst, nil
}

func (t Threshold) further(v, than float64) bool {
	if strings.HasPrefix(t.op, ">") {
		return v < than
	}
	return v > than
}

func (t Threshold) met(v float64) bool {
	switch t.op {
	case "<":
		return v < t.limit
	case "<=":
		return v <= t.limit
	case ">":
		return v > t.limit
	case ">=":
		return v >= t.limit
	}
	return v == t.limit
}
