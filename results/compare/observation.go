package compare

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/internal/suggest"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/metrics/observe"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/metric"
	"github.com/stampede-bench/stampede/results/stats"
)

// AllPaths is the subject of the figures of a whole observation.
const AllPaths = "all paths"

// observedFigure is a figure of an observation or of one path pattern in it. All of them are better if
// they are less.
type observedFigure struct {
	name  string
	timed bool
	of    func(results.Observation) (value float64, known bool)
}

// wholeFigures returns the figures of a whole observation.
func wholeFigures(all []results.Observation) []observedFigure {
	figures := countFigures(func(o results.Observation) (observe.Place, bool) {
		t := o.Observed.Traffic
		return observe.Place{FanoutMax: t.FanoutMax, FanoutP50: t.FanoutP50, Notifications: t.Notifications,
			Changes: t.Changes, Requests: t.Requests}, true
	})
	var names []string
	for _, o := range all {
		for _, op := range o.Observed.Operations {
			names = append(names, op.Name)
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		timed := func(percentile string, of func(observe.Operation) *int64) observedFigure {
			return observedFigure{name + "." + percentile, true, func(o results.Observation) (float64, bool) {
				i := slices.IndexFunc(o.Observed.Operations, func(op observe.Operation) bool { return op.Name == name })
				if i < 0 {
					return 0, false
				}
				return number(of(o.Observed.Operations[i]))
			}}
		}
		figures = append(figures, timed("p50", func(op observe.Operation) *int64 { return op.P50 }),
			timed("p99", func(op observe.Operation) *int64 { return op.P99 }))
	}
	return figures
}

// placeFigures returns the figures of one path pattern.
func placeFigures(path string) []observedFigure {
	at := func(o results.Observation) (observe.Place, bool) {
		i := slices.IndexFunc(o.Observed.Places, func(p observe.Place) bool { return p.Path == path })
		if i < 0 {
			return observe.Place{}, false
		}
		return o.Observed.Places[i], true
	}
	timed := func(name string, of func(observe.Place) *int64) observedFigure {
		return observedFigure{name, true, func(o results.Observation) (float64, bool) {
			p, _ := at(o)
			return number(of(p))
		}}
	}
	return append(countFigures(at), timed("settled.p90", func(p observe.Place) *int64 { return p.SettledP90 }),
		timed("latency.p90", func(p observe.Place) *int64 { return p.LatencyP90 }))
}

// countFigures returns the figures that are counted, and so do not depend on the speed of the machine.
func countFigures(at func(results.Observation) (observe.Place, bool)) []observedFigure {
	count := func(name string, of func(observe.Place) (float64, bool)) observedFigure {
		return observedFigure{name, false, func(o results.Observation) (float64, bool) {
			p, found := at(o)
			value, known := of(p)
			return value, known && found
		}}
	}
	perChange := func(n func(observe.Place) int64) func(observe.Place) (float64, bool) {
		return func(p observe.Place) (float64, bool) {
			return float64(n(p)) / float64(max(p.Changes, 1)), p.Changes > 0
		}
	}
	return []observedFigure{
		count("fanout.max", func(p observe.Place) (float64, bool) { return float64(p.FanoutMax), true }),
		count("fanout.p50", func(p observe.Place) (float64, bool) { return float64(p.FanoutP50), true }),
		count("notifications_per_change", perChange(func(p observe.Place) int64 { return p.Notifications })),
		count("requests_per_change", perChange(func(p observe.Place) int64 { return p.Requests })),
	}
}

func number(n *int64) (float64, bool) {
	if n == nil {
		return 0, false
	}
	return float64(*n), true
}

// Observations compares observations, as a whole and at each path pattern that base and candidate have. The
// counts are gated, or the figures with the given names if there are any; the others are left out
// unless all are wanted. Needed is the number of observations that each variant needs for the timed figures
// that are gated, 0 if there are enough.
func (r Rules) Observations(base, others []results.Observation, names []string, every bool) (changes []results.Change, warnings []results.Warning, needed int, err error) {
	paths, warnings := matchPaths(base, others)
	subjects := map[string][]observedFigure{AllPaths: wholeFigures(slices.Concat(base, others))}
	for _, p := range paths {
		subjects[p] = placeFigures(p)
	}
	order := append([]string{AllPaths}, paths...)
	if err := allKnown(names, subjects, order); err != nil {
		return nil, nil, 0, err
	}
	var all []change
	timed := 0
	for _, s := range order {
		for _, f := range subjects[s] {
			gated := slices.Contains(names, f.name) || len(names) == 0 && !f.timed
			if !gated && !every {
				continue
			}
			if c, ok := r.observed(s, f, gated, base, others); ok {
				all = append(all, c)
				if gated && f.timed {
					timed++
				}
			}
		}
	}
	if timed > 0 && min(len(base), len(others)) < stats.FewestRuns {
		needed = stats.FewestRuns
	}
	return r.written(all, true), append(warnings, unlikeObservations(base, others)...), needed, nil
}

// observed compares one figure. It returns false for one that neither has.
func (r Rules) observed(subject string, f observedFigure, gated bool, base, others []results.Observation) (change, bool) {
	c := change{better: metric.Less, Change: results.Change{Subject: subject, Figure: f.name, Gated: gated, Minimum: r.Minimum}}
	if f.timed {
		c.Unit = string(metric.Nanoseconds)
	}
	base, others = inTime(base), inTime(others)
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
		c.Why = "too few observations for a figure that varies"
	}
	if !f.timed {
		if why := losses(slices.Concat(base, others)); why != "" {
			c.void(results.Invalid, why)
			return c, true
		}
		c.Verdict, c.Why = "", ""
		if c.compareExactly(before, after); c.Verdict == "" && c.P == nil {
			c.void(results.Inconclusive, "the count varies more than it differs")
		}
	}
	return c, true
}

// inTime returns the observations in the order of their time.
func inTime(all []results.Observation) []results.Observation {
	return slices.SortedStableFunc(slices.Values(all), func(a, b results.Observation) int {
		return a.Started.Compare(b.Started)
	})
}

func started(all []results.Observation) (times []time.Time) {
	for _, o := range all {
		times = append(times, o.Started)
	}
	return times
}

func observedValues(f observedFigure, of []results.Observation) (all []float64) {
	for _, o := range of {
		if v, known := f.of(o); known {
			all = append(all, v)
		}
	}
	return all
}

// losses says why the counts of an observation are too small, "" if all are exact.
func losses(all []results.Observation) string {
	for _, o := range all {
		t := o.Observed.Traffic
		switch {
		case o.Dropped > 0 || t.GapBytes > 0 || o.PacketsDropped > 0:
			return o.ID + " has not analysed all traffic"
		case t.Joined > 0:
			return o.ID + " has connections that were open before it began"
		case t.Unfollowed > 0:
			return o.ID + " has not followed all watches"
		case t.Beyond.Any():
			return o.ID + " has not followed all that it observed"
		}
	}
	return ""
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
			if !slices.Contains(known, f.name) {
				known = append(known, f.name)
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
	return append(warnings, hosts(filesOf(base), filesOf(others))...)
}

// filesOf returns the part of the observations that all results have.
func filesOf(all []results.Observation) (files []results.File) {
	for _, o := range all {
		files = append(files, results.File{ID: o.ID, Host: o.Host})
	}
	return files
}

// LabelObservations lists the ids of the observations.
func LabelObservations(all []results.Observation) string { return Label(filesOf(all)) }
