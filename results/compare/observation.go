package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/internal/suggest"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/metrics/observation"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figure"
	"github.com/stampede-bench/stampede/results/stats"
	"github.com/stampede-bench/stampede/results/units"
)

// observedFigure is a figure of a whole observation or of one path pattern in it.
type observedFigure struct {
	figure.Figure
	value func(results.Observation) (value float64, known bool)
}

// wholeFigures returns the figures of whole observations.
func wholeFigures(all []results.Observation) (figures []observedFigure) {
	var names []string
	for _, o := range all {
		for _, op := range o.Observed.Operations {
			names = append(names, op.Name)
		}
	}
	slices.Sort(names)
	for _, f := range mainFirst(figure.Observations(slices.Compact(names))) {
		figures = append(figures, observedFigure{f, f.ObservationValue})
	}
	return figures
}

// mainFirst puts the figures that are compared by default in front of the others.
func mainFirst(all []figure.Figure) []figure.Figure {
	rank := func(f figure.Figure) int {
		if i := slices.Index(figure.ComparedPaths(), f.Name); i >= 0 {
			return i
		}
		return len(all)
	}
	slices.SortStableFunc(all, func(a, b figure.Figure) int { return rank(a) - rank(b) })
	return all
}

// placeFigures returns the figures of one path pattern. Amounts, which grow with the length of an
// observation, are not compared.
func placeFigures(path string) (figures []observedFigure) {
	for _, f := range mainFirst(figure.Paths()) {
		if f.Better == figure.Neither {
			continue
		}
		figures = append(figures, observedFigure{f, func(o results.Observation) (float64, bool) {
			i := slices.IndexFunc(o.Observed.Places, func(p observation.Place) bool { return p.Path == path })
			if i < 0 {
				return 0, false
			}
			return f.PathValue(o.Observed.Places[i])
		}})
	}
	return figures
}

// Observations compares observations, as a whole and at each path pattern that base and candidate have. The
// counts are gated, or the figures with the given names if there are any; the others are left out
// unless all are wanted. Needed is the number of observations that each variant needs before it can show a
// difference that no formula bounds, 0 if there are enough.
//
// Note: counts of an observation are not compared by their values. How many notifications a change causes
// depends on when clients arm their watches, so two observations of one program differ.
func (r Rules) Observations(base, others []results.Observation, names []string, every bool) (changes []results.Change, warnings []results.Warning, needed int, err error) {
	base, others = inTime(base), inTime(others)
	paths, warnings := matchPaths(base, others)
	subjects := map[string][]observedFigure{results.AllPaths: wholeFigures(slices.Concat(base, others))}
	for _, p := range paths {
		subjects[p] = placeFigures(p)
	}
	order := append([]string{results.AllPaths}, paths...)
	if err := allKnown(names, subjects, order); err != nil {
		return nil, nil, 0, err
	}
	endless := slices.ContainsFunc(slices.Concat(base, others), func(o results.Observation) bool { return o.Program == nil })
	var all []change
	for _, s := range order {
		for _, f := range subjects[s] {
			gated := slices.Contains(names, f.Name) || len(names) == 0 && slices.Contains(figure.ComparedPaths(), f.Name) && !(endless && isAmount(f))
			if !gated && !every {
				continue
			}
			if c, ok := r.observed(s, f, gated, base, others); ok {
				all = append(all, c)
			}
		}
	}
	tested := 0
	for _, c := range all {
		if c.Gated && (c.P != nil || c.Verdict == results.Inconclusive) {
			tested++
		}
	}
	if !stats.Enough(len(base), len(others), tested) {
		needed = stats.FewestRuns(tested)
	}
	return r.written(all, true), append(warnings, unlikeObservations(base, others)...), needed, nil
}

// observed compares one figure. It returns false for one that neither has.
func (r Rules) observed(subject string, f observedFigure, gated bool, base, others []results.Observation) (change, bool) {
	c := change{better: f.Better, Change: results.Change{Subject: subject, Figure: f.Name, Unit: string(f.Unit), Gated: gated, Minimum: r.Minimum}}
	before, after := observedValues(f, base), observedValues(f, others)
	switch {
	case len(before) == 0 && len(after) == 0:
		return c, false
	case len(before) < len(base) || len(after) < len(others):
		c.void(results.Invalid, "n/a in some of the observations")
		return c, gated
	}
	c.Base, c.New = stats.Median(before).Value, stats.Median(after).Value
	r.estimate(&c, before, after, sequence(started(base), started(others)))
	if c.Verdict == results.Inconclusive {
		c.Why = fmt.Sprintf("%d observations of base and of candidate can show a difference", stats.FewestRuns(1))
	}
	switch f.Name {
	case "fanout.max":
		c.compareWithBound(subject, base, after)
	case "watches.live":
		c.compareByHalf(before, after)
	case "watches.missed":
		c.compareWithNone(before, after)
	}
	if c.New < c.Base && countsTelling(f) {
		c.voidIfFewerWatch(subject, base, others)
	}
	c.doubt(f, base, others)
	return c, true
}

// doubt voids a verdict that could be another one with all of the traffic. A candidate beyond the bound of
// the base's form is beyond it all the more if traffic of its own is missing. What noise decides is void:
// a sample is not known.
func (c *change) doubt(f observedFigure, base, others []results.Observation) {
	better := figure.Lower // where a true value of the candidate would be better
	if f.Better == figure.More {
		better = figure.Higher
	}
	for _, o := range base {
		if why, bias := f.ObservationDoubt(o); bias != 0 && (c.Verdict != results.Regression || bias&^better != 0) {
			c.void(results.Invalid, o.ID+": "+why)
		}
	}
	for _, o := range others {
		if why, bias := f.ObservationDoubt(o); bias != 0 && (c.Verdict != results.Regression || bias&better != 0) {
			c.void(results.Invalid, o.ID+": "+why)
		}
	}
}

// compareWithBound decides the largest fan-out where the forms of the base bound it, as where each session
// watches its predecessor. If such a form was recognised at the path in all observations of the base,
// or at all paths whose changes woke a session, a candidate that was seen to wake more has left it, and
// any other has kept to it.
func (c *change) compareWithBound(path string, base []results.Observation, after []float64) {
	most := int64(0)
	for _, o := range base {
		for _, p := range o.Observed.Places {
			switch {
			case path != results.AllPaths && path != p.Path || p.FanoutMax == 0:
			case p.Form == nil || p.FanoutMax > p.Form.Most: // also a base that has left its form's bound has none
				return
			default:
				most = max(most, p.Form.Most)
			}
		}
	}
	if most == 0 {
		return
	}
	c.P, c.Verdict, c.Why = nil, results.Pass, fmt.Sprintf("the form of the base wakes at most %s", units.Plural(int(most), "session"))
	if slices.Max(after) > float64(most) {
		c.Verdict = results.Regression
	}
}

// compareWithNone decides on what must not be at all, whatever the noise.
func (c *change) compareWithNone(before, after []float64) {
	switch {
	case slices.Max(after) == 0:
		c.P, c.Verdict, c.Why = nil, results.Pass, "no watch was missed"
	case slices.Max(before) == 0:
		c.P, c.Verdict, c.Why = nil, results.Regression, "watches were missed, and none in the base"
	}
}

// isAmount reports whether the figure grows with the length of an observation. Programs end by
// themselves, so that their amounts compare.
func isAmount(f observedFigure) bool { return f.Name == "requests" || f.Name == "failed_writes" }

// compareByHalf decides how many watches stood at the same time, at most, also where there is one
// observation of each: that depends on how clients overlap, but hardly by half. A client that begins to
// watch one more node doubles it, or adds half to two. One watch more proves nothing: its notification may
// be on its way. Nor do watches that cannot fire: a client that asks with a watch whether the node before
// its own exists leaves one behind each time that the node has just gone.
func (c *change) compareByHalf(before, after []float64) {
	most, least := slices.Max(before), slices.Min(after)
	switch {
	case most == 0:
	case least >= max(1.5*most, most+2):
		c.P, c.Verdict, c.Why = nil, results.Regression, "at least half more watches stood at the same time"
	case c.Verdict == results.Inconclusive:
		c.P, c.Verdict, c.Why = nil, results.Pass, "less than half more watches stood at the same time"
	}
}

// countsTelling reports whether the figure counts notifications, of which there are fewer if fewer
// sessions watch.
func countsTelling(f observedFigure) bool {
	return strings.HasPrefix(f.Name, "fanout.") || strings.HasPrefix(f.Name, "notifications")
}

// voidIfFewerWatch voids a smaller count if fewer sessions watched: they are not told any more.
func (c *change) voidIfFewerWatch(path string, base, others []results.Observation) {
	watching := func(all []results.Observation) float64 {
		var n []float64
		for _, o := range all {
			sum := 0
			for _, p := range o.Observed.Places {
				if path == results.AllPaths || path == p.Path {
					sum += p.Sessions
				}
			}
			n = append(n, float64(sum))
		}
		return stats.Median(n).Value
	}
	if was, is := watching(base), watching(others); is < was {
		c.void(results.Inconclusive, fmt.Sprintf("fewer sessions watch: %s instead of %s", units.Short(is), units.Short(was)))
	}
}

func started(all []results.Observation) (times []time.Time) {
	for _, o := range all {
		times = append(times, o.Started)
	}
	return times
}

func observedValues(f observedFigure, of []results.Observation) (all []float64) {
	for _, o := range of {
		if v, known := f.value(o); known {
			all = append(all, v)
		}
	}
	return all
}

// matchPaths returns the path patterns that both have, in the order of the candidate, and warns
// about the others.
func matchPaths(base, others []results.Observation) (both []string, warnings []results.Warning) {
	old, fresh := pathsOf(base), pathsOf(others)
	for _, p := range fresh {
		if slices.Contains(old, p) {
			both = append(both, p)
		} else {
			warnings = append(warnings, warning(results.OneVariantOnly, metrics.Names{"side": "NEW", "subject": p}))
		}
	}
	for _, p := range old {
		if !slices.Contains(fresh, p) {
			warnings = append(warnings, warning(results.OneVariantOnly, metrics.Names{"side": "OLD", "subject": p}))
		}
	}
	return both, warnings
}

// pathsOf returns the path patterns that have changes.
func pathsOf(all []results.Observation) (paths []string) {
	for _, o := range all {
		for _, p := range o.Observed.Places {
			if p.Changes > 0 && !slices.Contains(paths, p.Path) {
				paths = append(paths, p.Path)
			}
		}
	}
	return paths
}

// allKnown checks that some subject has each of the figures.
func allKnown(names []string, subjects map[string][]observedFigure, order []string) error {
	var known []string
	for _, s := range order {
		for _, f := range subjects[s] {
			if !slices.Contains(known, f.Name) {
				known = append(known, f.Name)
			}
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return suggest.Unknown("metric of an observation", name, known)
		}
	}
	return nil
}

// unlikeObservations warns about differences in how they were observed.
func unlikeObservations(base, others []results.Observation) (warnings []results.Warning) {
	for _, s := range []struct {
		name string
		of   func(results.Observation) string
	}{
		{"backend", func(o results.Observation) string { return o.Backend }},
		{"source", func(o results.Observation) string { return o.Source }},
		{"program", func(o results.Observation) string { return *cmp.Or(o.Program, new("none")) }},
		{"number of sessions", func(o results.Observation) string { return fmt.Sprint(o.Observed.Traffic.Sessions) }},
	} {
		if a, b := distinct(base, s.of), distinct(others, s.of); a != b {
			warnings = append(warnings, warning(results.DifferentSettings, metrics.Names{"setting": s.name, "base": a, "new": b}))
		}
	}
	return append(warnings, hosts(base, others)...)
}
