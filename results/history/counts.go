package history

import (
	"fmt"
	"maps"
	"slices"

	"github.com/stampede-bench/stampede/metrics/observe"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/metric"
)

// A countFigure is a figure of what stampede count counts of a form at rest.
type countFigure struct {
	metric.Metric
	of func(results.Settled) results.Exact
}

func countFigures() []countFigure {
	figure := func(name, about string, of func(results.Settled) results.Exact) countFigure {
		return countFigure{metric.Metric{Name: "count." + name, Better: metric.Less, About: about}, of}
	}
	return []countFigure{
		figure("notifications", "notifications that count counts", func(s results.Settled) results.Exact { return s.Notifications }),
		figure("reads", "reads that count counts", func(s results.Settled) results.Exact { return s.Reads }),
		figure("writes", "writes that count counts", func(s results.Settled) results.Exact { return s.Writes }),
		figure("largest_fanout", "most notifications of one write that count counts", func(s results.Settled) results.Exact { return s.LargestFanout }),
	}
}

// OtherMetrics returns the figures that are not of runs: those of counts and of observations.
func OtherMetrics() (all []metric.Metric) {
	for _, f := range countFigures() {
		all = append(all, f.Metric)
	}
	for _, f := range observedFigures() {
		all = append(all, f.Metric)
	}
	return all
}

// isCount reports whether the name is that of a figure of counts.
func isCount(name string) bool {
	return slices.ContainsFunc(countFigures(), func(f countFigure) bool { return f.Name == name })
}

// anyMachine stands for the machine of figures that do not depend on it.
const anyMachine = "any machine"

// addCounts adds those counts that the collection follows; all of them unless figures were named.
func (c *Collection) addCounts(r results.CountReport) {
	for _, s := range r.Settled {
		if s.Safety.Violations > 0 {
			continue
		}
		for _, f := range countFigures() {
			if len(c.Figures) == 0 || slices.Contains(c.Figures, f.Name) {
				c.add(countSubject(s), anyMachine, f.Metric, Point{r.ID, r.Started, r.Marks, float64(f.of(s).Counted)})
			}
		}
	}
}

// countSubject describes what was counted.
func countSubject(s results.Settled) string {
	text := fmt.Sprintf("count: %s/%s on %s, %d clients", s.Recipe, s.Form, s.Backend.URL, s.Clients)
	for _, letter := range slices.Sorted(maps.Keys(s.Parameters)) {
		text += fmt.Sprintf(", %s = %d", letter, s.Parameters[letter])
	}
	return text
}

// An observedFigure is a figure of one path pattern in an observation.
type observedFigure struct {
	metric.Metric
	of func(observe.Place) (value float64, known bool)
}

func observedFigures() []observedFigure {
	figure := func(name string, unit metric.Unit, about string, of func(observe.Place) (float64, bool)) observedFigure {
		return observedFigure{metric.Metric{Name: name, Unit: unit, Better: metric.Less, About: about}, of}
	}
	return []observedFigure{
		figure("fanout.max", metric.Number, "most notifications of one change that observe counted",
			func(p observe.Place) (float64, bool) { return float64(p.FanoutMax), true }),
		figure("notifications_per_change", metric.Number, "notifications per change that observe counted",
			func(p observe.Place) (float64, bool) { return float64(p.Notifications) / float64(p.Changes), true }),
		figure("wasted", metric.Share, "share of the wake-ups after which a session waited again",
			func(p observe.Place) (float64, bool) {
				if p.Wasted == nil || *p.Useful+*p.Wasted == 0 {
					return 0, false
				}
				return float64(*p.Wasted) / float64(*p.Useful+*p.Wasted), true
			}),
	}
}

// isObserved reports whether the name is that of a figure of observations.
func isObserved(name string) bool {
	return slices.ContainsFunc(observedFigures(), func(f observedFigure) bool { return f.Name == name })
}

// addObservation adds the figures of each path pattern that changed. They are counts, so they have one
// series for all machines.
func (c *Collection) addObservation(o results.Observation) {
	for _, place := range o.Observed.Places {
		if place.Changes == 0 {
			continue
		}
		for _, f := range observedFigures() {
			value, known := f.of(place)
			if known && (len(c.Figures) == 0 || slices.Contains(c.Figures, f.Name)) {
				c.add(observedSubject(o, place.Path), anyMachine, f.Metric, Point{o.ID, o.Started, o.Marks, value}).observed = true
			}
		}
	}
}

// observedSubject describes what was observed.
func observedSubject(o results.Observation, path string) string {
	program := "observe"
	if o.Program != nil {
		program += " " + *o.Program
	}
	return program + " on " + o.Backend + ", " + path
}
