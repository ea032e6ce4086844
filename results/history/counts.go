package history

import (
	"fmt"
	"maps"
	"slices"

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
