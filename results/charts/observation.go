package charts

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/metrics/observation"
	"github.com/stampede-bench/stampede/metrics/pathname"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/observed"
	"github.com/stampede-bench/stampede/results/units"
)

// ofObservation draws when the largest changes were made: what each path's changes wake stands in the table.
func ofObservation(o results.Observation) []Chart { return some(largest(o.Observed)) }

// largest draws when the changes were made that woke most sessions: a dot for each, in the colour of its path. The
// name of the writer appears at the dot.
func largest(r observation.Report) *Chart {
	changes := slices.SortedFunc(slices.Values(r.Largest), func(x, y observation.Change) int { return x.At.Compare(y.At) })
	changes = slices.DeleteFunc(changes, func(c observation.Change) bool { return c.Woke < 2 })
	if len(changes) < fewest {
		return nil
	}
	at := map[string]int{}
	p := panel{height: 170}
	var about []string
	for _, c := range changes {
		i, known := at[c.Path]
		if !known {
			i, at[c.Path] = len(p.lines), len(p.lines)
			of := look{ink: muted, shape: shape(len(p.lines)) % shapes}
			if place := slices.IndexFunc(r.Places, func(p observation.Place) bool { return p.Path == c.Path }); place >= 0 {
				of.ink = inkOfPlace(r.Places[place])
			}
			p.lines = append(p.lines, line{name: shortPath(c.Path), look: of, marked: true})
		}
		text := fmt.Sprintf("%s, %s", c.Path, units.Plural(int(c.Woke), "session"))
		if c.Op != "" {
			text += fmt.Sprintf(", %s by %s", c.Op, observed.Name(c.Process, c.Writer))
		}
		p.lines[i].at = append(p.lines[i].at, point{x: c.At.Sub(changes[0].At).Seconds(), y: float64(c.Woke), text: text})
		about = append(about, text)
	}
	p.x = linear("seconds after the first of them", valuesOf(p.lines, func(p point) float64 { return p.x }), number)
	p.y = linear("sessions woken", valuesOf(p.lines, func(p point) float64 { return p.y }), number)
	c := &Chart{Name: "largest-changes", Title: "When the largest changes were made", panels: []panel{p},
		Caption: fmt.Sprintf("Each dot is one of the %d changes that woke most sessions.", len(changes))}
	c.About = c.Title + ". " + strings.Join(about, "; ") + "."
	return c
}

// shortPath returns a path that fits beside a chart.
func shortPath(path string) string {
	const longest = 20
	return cmp.Or(pathname.Elide([]string{path}, longest)[path], path)
}

// inkOfPlace returns the colour of naive forms for a herd, and that of recipes for anything else.
func inkOfPlace(p observation.Place) ink {
	if p.Form != nil && p.Form.Herd {
		return naive
	}
	return recipe
}
