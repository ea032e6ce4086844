package history

import (
	"fmt"
	"maps"
	"slices"

	"github.com/stampede-bench/stampede/metrics/observe"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figure"
)

// isCount and isObserved report whether the name is that of a figure of counts or of observed paths.
func isCount(name string) bool { return has(figure.Counts(), name) }

func isObserved(name string) bool { return has(figure.Paths(), name) }

func has(all []figure.Figure, name string) bool {
	return slices.ContainsFunc(all, func(f figure.Figure) bool { return f.Name == name })
}

// anyMachine stands for the machine of figures that do not depend on it.
const anyMachine = "any machine"

// follows reports whether the collection follows the figure, which is one of the default ones or not.
func (c *Collection) follows(name string, byDefault bool) bool {
	return len(c.Figures) == 0 && byDefault || slices.Contains(c.Figures, name)
}

// addCounts adds those counts that the collection follows; all of them unless figures were named.
func (c *Collection) addCounts(r results.CountReport) {
	for _, s := range r.Settled {
		if s.Safety.Violations > 0 {
			continue
		}
		for _, f := range figure.Counts() {
			if e, _ := f.CountValue(s); c.follows(f.Name, true) {
				c.add(countSubject(s), anyMachine, f, Point{r.ID, r.Started, r.Marks, float64(e.Counted)})
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

// addObservation adds the figures of each path pattern that changed. Counts have one series for all
// machines.
func (c *Collection) addObservation(o results.Observation) {
	for _, place := range o.Observed.Places {
		if place.Changes > 0 {
			c.addPath(o, place)
		}
	}
}

func (c *Collection) addPath(o results.Observation, place observe.Place) {
	for _, f := range figure.Paths() {
		on := anyMachine
		if f.Timed() {
			on = machine(o.Host)
		}
		value, known := f.PathValue(place)
		if known && c.follows(f.Name, slices.Contains(figure.FollowedPaths(), f.Name)) {
			c.add(observedSubject(o, place.Path), on, f, Point{o.ID, o.Started, o.Marks, value}).observed = true
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
