package history

import (
	"fmt"
	"maps"
	"slices"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figure"
)

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
				c.find(countSubject(s), anyMachine, f).add(Point{r.ID, r.Started, r.Marks, float64(e.Counted)}, f.ExactCount(s))
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

// addObservation adds the figures of the whole observation, in which a herd is seen whatever the names of its
// nodes, and of each path pattern that changed. Counts have one series for all machines.
func (c *Collection) addObservation(o results.Observation) {
	for _, f := range figure.Observations(nil) {
		value, known := f.ObservationValue(o)
		c.addObserved(o, results.AllPaths, f, value, known)
	}
	for _, place := range o.Observed.Places {
		for _, f := range figure.Paths() {
			value, known := f.PathValue(place)
			c.addObserved(o, place.Path, f, value, known && place.Changes > 0)
		}
	}
}

func (c *Collection) addObserved(o results.Observation, path string, f figure.Figure, value float64, known bool) {
	if !known || !c.follows(f.Name, slices.Contains(figure.FollowedPaths(), f.Name)) {
		return
	}
	on := anyMachine
	if f.Timed() {
		on = machine(o.Host)
	}
	s := c.find(observedSubject(o, path), on, f)
	if _, bias := f.ObservationDoubt(o); bias != 0 {
		s.Doubtful++
		return
	}
	s.add(Point{o.ID, o.Started, o.Marks, value}, false)
}

// observedSubject describes what was observed.
func observedSubject(o results.Observation, path string) string {
	program := "observe"
	if o.Program != nil {
		program += " " + *o.Program
	}
	return program + " on " + o.Backend + ", " + path
}
