package charts

import (
	"slices"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/units"
)

// A Sketch is the chart of latency over time for a page that draws it itself, several times a second while a
// run is in progress. Places are shares of the chart's width and height, from its lower left corner.
type Sketch struct {
	Title string     `json:"title"`
	X     []Mark     `json:"x"`
	Y     []Mark     `json:"y"`
	Lines []Sketched `json:"lines"` // one for each run
}

// A Mark is a labelled place on an axis.
type Mark struct {
	At    float64 `json:"at"`
	Label string  `json:"label"`
}

// A Sketched is the line of a run, in several pieces if there are gaps. Latest is its last value, "" of a
// run without any.
type Sketched struct {
	Pieces [][][2]float64 `json:"pieces"`
	Latest string         `json:"latest"`
}

// mostSketched is the greatest number of points of a line: more cannot be told apart on a phone. A
// longer line has the highest value of each group of points.
const mostSketched = 240

// SketchLatency sketches the response times of the first phase of the runs, whose windows are to have the
// given length. It returns false if too few rounds have ended.
func SketchLatency(runs []results.Run, window time.Duration) (Sketch, bool) {
	percentile, of := steadiest(slices.Collect(slices.Chunk(runs, 1)))
	var all []line
	var phase string
	pieces := make([][][]point, len(runs))
	for i, r := range runs {
		pieces[i] = waits(r, of, 0, r.DurationNS.Seconds())
		for j, piece := range pieces[i] {
			pieces[i][j] = highest(piece, 1+len(r.Intervals)/mostSketched)
			all = append(all, line{at: pieces[i][j]})
			phase = results.FirstPhase(r)
		}
		window = max(window, r.DurationNS)
	}
	if len(all) == 0 {
		return Sketch{}, false
	}
	y := linear("", valuesOf(all, func(p point) float64 { return p.y }), clock)
	x := linear("", []float64{window.Seconds()}, func(v float64) string { return number(v) + " s" })
	s := Sketch{Title: levels.PhaseName(phase) + " " + percentile + " over time", X: marksOf(x), Y: marksOf(y)}
	for _, lines := range pieces {
		var l Sketched
		for _, piece := range lines {
			var at [][2]float64
			for _, p := range piece {
				at = append(at, [2]float64{p.x / x.high, p.y / y.high})
				l.Latest = units.Duration(time.Duration(p.y))
			}
			l.Pieces = append(l.Pieces, at)
		}
		s.Lines = append(s.Lines, l)
	}
	return s, true
}

// highest returns the highest point of each group of n.
func highest(all []point, n int) (some []point) {
	for group := range slices.Chunk(all, n) {
		some = append(some, slices.MaxFunc(group, func(a, b point) int { return int(a.y - b.y) }))
	}
	return some
}

func marksOf(a axis) (all []Mark) {
	for _, t := range a.ticks {
		all = append(all, Mark{t.value / a.high, t.label})
	}
	return all
}
