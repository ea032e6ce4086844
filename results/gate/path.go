package gate

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/stampede-bench/stampede/metrics/observation"
	"github.com/stampede-bench/stampede/metrics/pathname"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figure"
)

// A PathThreshold is a condition on a figure of all paths of an observation, or of those that match a
// pattern, or of the observation as a whole. Where several paths match, it is on the one that is
// furthest from meeting it.
type PathThreshold struct {
	text    string
	pattern string // "" for all paths
	figure.Bound
}

// String returns the condition as it was given.
func (t PathThreshold) String() string { return t.text }

// ParsePath parses a threshold such as "fanout.max <= 5" or "/controller: wasted < 10%". What stands before the
// last colon is the path, as the names of etcd's keys may have colons, blanks and operators and begin with
// anything.
func ParsePath(text string) (t PathThreshold, err error) {
	t.text = text
	rest := text
	if i := strings.LastIndexByte(text, ':'); i >= 0 { // no figure and no limit has one
		t.pattern, rest = text[:i], text[i+1:]
	}
	switch rest = strings.TrimSpace(rest); {
	case t.pattern == "" && strings.HasPrefix(rest, "/"):
		return t, fmt.Errorf("threshold %q: want a colon after the path pattern", text)
	case t.pattern == "" && rest != strings.TrimSpace(text):
		return t, fmt.Errorf("threshold %q: want a path pattern before the colon", text)
	}
	name, op, limit, err := figure.Split(rest)
	if err != nil {
		return t, fmt.Errorf("threshold %w", err)
	}
	known := figure.Paths()
	if t.pattern == "" {
		known = figure.OfObservations()
	}
	if t.Figure, err = figure.Find(name, known); err == nil {
		t.Op = op
		t.Limit, err = t.Figure.ParseValue(limit)
	}
	if err != nil {
		return t, fmt.Errorf("threshold %q: %w", text, err)
	}
	return t, nil
}

// JudgePaths judges an observation by the thresholds, and returns the gates and the overall verdict.
func JudgePaths(thresholds []PathThreshold, o results.Observation) (gates []results.Gate, verdict results.Verdict) {
	for _, t := range thresholds {
		g := t.judge(o)
		gates, verdict = append(gates, g), results.Worst(verdict, g.Verdict)
	}
	return gates, verdict
}

// judge judges the path that is furthest from meeting the threshold. Traffic that was not analysed makes a
// verdict invalid if it could change it.
func (t PathThreshold) judge(o results.Observation) results.Gate {
	g := results.Gate{Text: t.text, Run: -1, Figure: t.Figure.Name, Unit: string(t.Figure.Unit), Op: string(t.Op), Limit: &t.Limit}
	at, measured, err := t.measured(o)
	why, bias := t.Figure.ObservationDoubt(o)
	if bias == 0 {
		why, bias = t.Figure.Undecided(o)
	}
	if err != nil {
		g.Verdict, g.Why = results.Invalid, err.Error()
		if bias != 0 && !strings.HasSuffix(g.Why, why) {
			g.Why += "; " + why
		}
		return g
	}
	g.Subject, g.Measured = at, &measured
	holds, doubt := t.Op.Judge(figure.Doubted(measured, bias, why), figure.Exactly(t.Limit))
	switch {
	case doubt != "":
		g.Verdict, g.Why = results.Invalid, doubt
	case holds:
		g.Verdict = results.Pass
	default:
		g.Verdict = results.Fail
	}
	return g
}

// measured returns the value that is judged, and the path whose it is.
func (t PathThreshold) measured(o results.Observation) (at string, value float64, err error) {
	if o.Observed.Traffic.Requests == 0 {
		return "", 0, errors.New("no request was observed")
	}
	if t.Figure.OfPaths() {
		worst, err := t.worst(o)
		if t.pattern != "" || !errors.Is(err, errNotWatched) {
			value, _ = t.Figure.PathValue(worst)
			if all, known := t.Figure.ObservationValue(o); t.pattern == "" && t.Figure.Across() && known && t.further(all, value) {
				return results.AllPaths, all, err
			}
			return worst.Path, value, err
		}
	}
	value, known := t.Figure.ObservationValue(o)
	switch {
	case !known && t.Figure.Absent(o) != "":
		return "", 0, fmt.Errorf("%s is not known: %s", t.Figure.Name, t.Figure.Absent(o))
	case !known:
		return "", 0, errNotWatched
	case t.Figure.OfPaths(): // no path has any: the sum over all, of paths that are not known, is that of none
		value = 0
	}
	if t.Figure.OfFaults() {
		return "all faults", value, nil
	}
	return results.AllPaths, value, nil
}

// errNotWatched says that there is no path whose watches could be judged.
var errNotWatched = errors.New("nothing was watched")

// worst returns the place that is furthest from meeting the threshold. That no place matches a
// pattern is an error, since a mistyped pattern must not pass.
func (t PathThreshold) worst(o results.Observation) (worst observation.Place, err error) {
	watched, found := false, false
	var furthest float64
	for _, p := range o.Observed.Places {
		if t.pattern != "" && !t.matches(p.Path) {
			continue
		}
		watched = watched || p.Watched()
		if v, known := t.Figure.PathValue(p); known && (!found || t.further(v, furthest)) {
			found, furthest, worst = true, v, p
		}
	}
	switch {
	case found:
		return worst, nil
	case watched:
		return worst, fmt.Errorf("%s is not known: %s", t.Figure.Name, t.Figure.Absent(o))
	case t.pattern != "":
		return worst, fmt.Errorf("no watched path matches %s", t.pattern)
	}
	return worst, errNotWatched
}

// matches reports whether the threshold is on the path: by its name, by that in a table, or by a pattern.
func (t PathThreshold) matches(name string) bool {
	fits, _ := path.Match(t.pattern, name) // what is no pattern is a name
	return fits || name == t.pattern || pathname.Elided(t.pattern, name) || name == strings.TrimSpace(t.pattern)
}

func (t PathThreshold) further(v, than float64) bool {
	if t.Op == figure.Above || t.Op == figure.AtLeast {
		return v < than
	}
	return v > than
}
