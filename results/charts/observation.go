package charts

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/stampede-bench/stampede/metrics/observe"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/units"
)

// mostPlaces is how many watched paths the chart of an observation shows.
const mostPlaces = 10

// ofObservation draws how many sessions a change wakes at each watched path: a bar to the most, a dot at the median, and a
// mark where another form would be. The paths that wake most are at the top.
func ofObservation(o results.Observation) []Chart {
	places := changed(o.Observed.Places)
	if len(places) == 0 {
		return nil
	}
	most := []float64{float64(places[0].FanoutMax)}
	p := panel{x: linear("sessions that a change wakes", most, number), y: axis{gridless: true}}
	var about []string
	at := vg.Length(0)
	for _, place := range slices.Backward(places) {
		p.woken(place, float64(at)+float64(barHigh)/2)
		at += barHigh + wordsHigh
		p.notes = append(p.notes, note{y: float64(at), left: place.Path, right: wokenBy(place), ink: inkOfPlace(place)})
		about = append(about, place.Path+": "+wokenBy(place))
	}
	p.y.high, p.height = float64(at), at+46
	p.y.ticks = []plot.Tick{{Value: 0}, {Value: p.y.high}} // without labels: the rows have text
	slices.Reverse(about)
	c := Chart{Name: "fan-out", Title: "Sessions that one change wakes, by watched path", panels: []panel{p},
		Caption: "The bar ends at the most, the dot is the median. The grey triangle is what the form that is recommended instead would wake."}
	c.About = c.Title + ". " + strings.Join(about, "; ") + "."
	return []Chart{c}
}

// barHigh is the height of the marks of a path.
const barHigh vg.Length = 16

// changed returns the places where changes woke sessions, those that woke most first.
func changed(all []observe.Place) []observe.Place {
	places := slices.DeleteFunc(slices.Clone(all), func(p observe.Place) bool { return p.FanoutMax == 0 })
	slices.SortStableFunc(places, func(x, y observe.Place) int { return int(y.FanoutMax - x.FanoutMax) })
	return places[:min(len(places), mostPlaces)]
}

// woken draws the marks of a place at a height.
func (p *panel) woken(place observe.Place, y float64) {
	of := look{ink: inkOfPlace(place), shape: shapes()[0]}
	most, median := float64(place.FanoutMax), float64(place.FanoutP50)
	p.lines = append(p.lines,
		line{look: of, joined: true, at: []point{{x: 0, y: y}, {x: most, y: y}}},
		line{look: of, joined: true, at: []point{{x: most, y: y - 4}, {x: most, y: y + 4}}},
		line{look: of, marked: true, at: []point{{x: median, y: y}}})
	if f := place.Form; f != nil && f.Wakes > 0 {
		p.lines = append(p.lines, line{look: look{ink: muted, shape: shapes()[1]}, marked: true, at: []point{{x: float64(f.Wakes), y: y}}})
	}
}

// wokenBy says what the marks of a place show.
func wokenBy(p observe.Place) string {
	text := fmt.Sprintf("median %s, most %s", units.Count(p.FanoutP50), units.Count(p.FanoutMax))
	if f := p.Form; f != nil && f.Wakes > 0 {
		text += fmt.Sprintf(", %s would wake %s", f.Instead, units.Count(f.Wakes))
	}
	return text
}

// inkOfPlace returns the colour of naive forms for a herd, and that of recipes for anything else.
func inkOfPlace(p observe.Place) ink {
	if p.Form != nil && p.Form.Herd {
		return naive
	}
	return recipe
}
