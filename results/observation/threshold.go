package observation

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/stampede-bench/stampede/metrics/observe"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figure"
)

// A Threshold is a condition on a figure of all places, or of those whose path pattern matches. Where
// several places match, it is on the one that is furthest from meeting it.
type Threshold struct {
	text    string
	pattern string // "" for all places
	figure  figure.Figure
	op      figure.Op
	limit   float64
}

// ParseThreshold reads a threshold such as "fanout.max <= 5" or "/controller: wasted < 10%".
func ParseThreshold(text string) (t Threshold, err error) {
	t.text = text
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
	name, op, limit, err := figure.Split(rest)
	if err != nil {
		return t, fmt.Errorf("threshold %w", err)
	}
	if t.figure, err = figure.Find(name, figure.Paths()); err == nil {
		t.op = op
		t.limit, err = t.figure.ParseValue(limit)
	}
	if err != nil {
		return t, fmt.Errorf("threshold %q: %w", text, err)
	}
	return t, nil
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
	g := results.Gate{Text: t.text, Run: -1, Figure: t.figure.Name, Unit: string(t.figure.Unit), Op: string(t.op), Limit: &t.limit}
	worst, err := t.worst(r)
	if err != nil {
		g.Verdict, g.Why = results.Invalid, err.Error()
		return g
	}
	measured, _ := t.figure.PathValue(worst)
	g.Subject, g.Measured = worst.Path, &measured
	g.Verdict = results.Fail
	if t.op.Holds(measured, t.limit) {
		g.Verdict = results.Pass
	}
	return g
}

// worst returns the place that is furthest from meeting the threshold. That no place matches a
// pattern is an error, since a mistyped pattern must not pass.
func (t Threshold) worst(r observe.Report) (worst observe.Place, err error) {
	matched, found := false, false
	var furthest float64
	for _, p := range r.Places {
		if ok, _ := path.Match(t.pattern, p.Path); t.pattern != "" && !ok && t.pattern != p.Path {
			continue
		}
		matched = true
		if v, known := t.figure.PathValue(p); known && (!found || t.further(v, furthest)) {
			found, furthest, worst = true, v, p
		}
	}
	switch {
	case !matched && t.pattern == "" && r.Traffic.Requests > 0:
		zero := observe.Place{Useful: new(int64), Wasted: new(int64)} // nothing was watched
		if _, known := t.figure.PathValue(zero); known {
			return zero, nil
		}
		return worst, errors.New("nothing was watched")
	case !matched && t.pattern == "":
		return worst, errors.New("no traffic was observed")
	case !matched:
		return worst, fmt.Errorf("no watched path matches %s", t.pattern)
	case !found:
		return worst, fmt.Errorf("%s is not known: it is not clear what the sessions wait for", t.figure.Name)
	}
	return worst, nil
}

func (t Threshold) further(v, than float64) bool {
	if t.op == figure.Above || t.op == figure.AtLeast {
		return v < than
	}
	return v > than
}
