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

// mostPlaces is how many watched paths the chart of an observation shows.
const mostPlaces = 10

// ofObservation draws how many sessions a change wakes at each watched path: a bar to the most, a dot at
// the median, and a mark where another form would be. The paths that wake most are at the top.
func ofObservation(o results.Observation) []Chart {
	places := changed(o.Observed.Places)
	if len(places) == 0 {
		return nil
	}
	most := []float64{float64(places[0].FanoutMax)}
	p := panel{x: linear("sessions that a change wakes", most, number)}
	var about []string
	at := float64(0)
	for _, place := range slices.Backward(places) {
		p.woken(place, at+barHigh/2)
		at += barHigh + wordsHigh
		p.notes = append(p.notes, note{y: at, left: place.Path, right: wokenBy(place), ink: inkOfPlace(place)})
		about = append(about, place.Path+": "+wokenBy(place))
	}
	p.rows(at)
	slices.Reverse(about)
	c := Chart{Name: "fan-out", Title: "Sessions that one change wakes, by watched path", panels: []panel{p},
		Caption: "The bar ends at the most, the dot is the median. The grey triangle is what the form that is recommended instead would wake."}
	c.About = c.Title + ". " + strings.Join(about, "; ") + "."
	return append([]Chart{c}, some(largest(o.Observed))...)
}

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

// barHigh is the height of the marks of a path.
const barHigh float64 = 16

// changed returns the places where changes woke sessions, those that woke most first.
func changed(all []observation.Place) []observation.Place {
	places := slices.DeleteFunc(slices.Clone(all), func(p observation.Place) bool { return p.FanoutMax == 0 })
	slices.SortStableFunc(places, func(x, y observation.Place) int { return int(y.FanoutMax - x.FanoutMax) })
	return places[:min(len(places), mostPlaces)]
}

// woken draws the marks of a place at a height.
func (p *panel) woken(place observation.Place, y float64) {
	of := look{ink: inkOfPlace(place), shape: disc}
	most, median := float64(place.FanoutMax), float64(place.FanoutP50)
	p.lines = append(p.lines,
		line{look: of, joined: true, at: []point{{x: 0, y: y}, {x: most, y: y}}},
		line{look: of, joined: true, at: []point{{x: most, y: y - 4}, {x: most, y: y + 4}}},
		line{look: of, marked: true, at: []point{{x: median, y: y}}})
	if f := place.Form; f != nil && f.Wakes > 0 {
		p.lines = append(p.lines, line{look: look{ink: muted, shape: pyramid}, marked: true, at: []point{{x: float64(f.Wakes), y: y}}})
	}
}

// wokenBy says what the marks of a place show.
func wokenBy(p observation.Place) string {
	text := fmt.Sprintf("median %s, most %s", units.Count(p.FanoutP50), units.Count(p.FanoutMax))
	if f := p.Form; f != nil && f.Wakes > 0 {
		text += fmt.Sprintf(", %s would wake %s", f.Instead, units.Count(f.Wakes))
	}
	return text
}

// inkOfPlace returns the colour of naive forms for a herd, and that of recipes for anything else.
func inkOfPlace(p observation.Place) ink {
	if p.Form != nil && p.Form.Herd {
		return naive
	}
	return recipe
}
