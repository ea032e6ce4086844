package history

import (
	"slices"

	"github.com/stampede-bench/stampede/metrics/observe"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/metric"
)

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
