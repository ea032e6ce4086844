package stats

import (
	"math"
	"math/rand/v2"
)

// Wanted is the share of comparisons in which a difference must be found to count as detectable.
const Wanted = 0.8

// A Sample is what the runs of a comparison show of one figure, as differences of logarithms.
type Sample interface {
	// Interval returns the difference with its interval.
	Interval(confidence float64) Estimate
	// P returns the probability of a difference at least as large, after the given size has been added to
	// it, if there is none.
	P(added float64) float64
	// Redraw returns another such sample, drawn at random from the scatter of this one, without a
	// difference.
	Redraw(random *rand.Rand) Sample
	// First returns what the first runs, up to a number of pairs, show.
	First(pairs int) Sample
}

// A Figure is one of the figures that a comparison judges together.
type Figure struct {
	Sample
	Lower bool // a lower value is worse
	Limits
}

// Worse returns the estimate as one of a figure for which a higher value is worse.
func (f Figure) Worse(e Estimate) Estimate {
	if f.Lower {
		e.Value, e.Low, e.High = -e.Value, -e.High, -e.Low
	}
	return e
}

// A Test is what [Judge] decides by.
type Test struct {
	Estimate         // of a difference where a higher value is worse
	P        float64 // allows for the number of looks
	Limits
}

// Test returns the test of the figure at one of several looks.
func (f Figure) Test(looks int) Test { return f.moved(f.Interval(Strict(looks)), 0, looks) }

// moved returns the test after the figure has become worse by the given size. e is the interval before.
func (f Figure) moved(e Estimate, size float64, looks int) Test {
	e = f.Worse(e)
	e.Value, e.Low, e.High = e.Value+size, e.Low+size, e.High+size
	if f.Lower {
		size = -size
	}
	return Test{Estimate: e, P: min(1, f.P(size)*float64(looks)), Limits: f.Limits}
}

// Strict returns the confidence that each of a number of looks or figures must have, so that all together
// have the usual one.
func Strict(number int) float64 { return 1 - (1-Confidence)/float64(max(number, 1)) }

// Judge decides about figures that are judged together, and returns their adjusted probabilities too.
func Judge(tests []Test) (decisions []Decision, adjusted []float64) {
	p := make([]float64, len(tests))
	for i, t := range tests {
		p[i] = t.P
	}
	adjusted = Holm(p)
	for i, t := range tests {
		decisions = append(decisions, Decide(t.Estimate, adjusted[i], t.Limits))
	}
	return decisions, adjusted
}

// A Simulation repeats a comparison with differences of known size. It draws the runs from the scatter of
// those that were done, and decides about them exactly as it was decided about those: by the same
// estimates, limits, looks and number of figures.
type Simulation struct {
	figures []Figure
	looks   int
	drawn   [][][]drawing // by draw, look and figure
	shares  map[float64][]float64
}

// A drawing is a sample and its interval, which moves with a difference that is added.
type drawing struct {
	Figure
	interval Estimate
}

// The number of draws is enough to tell a share of 80 % from one of 70 %. Many figures share so many
// draws that the simulation ends in about a second.
const (
	mostDraws   = 400
	fewestDraws = 50
	allDraws    = 2000
)

// Simulate prepares the simulation of a comparison that judges the figures after each of the given numbers
// of pairs. looks is how often it would have judged them if it had not ended before.
func Simulate(figures []Figure, pairs []int, looks int) *Simulation {
	s := &Simulation{figures: figures, looks: looks, shares: map[float64][]float64{}}
	draws := min(max(allDraws/max(1, len(figures)*len(pairs)), fewestDraws), mostDraws)
	for n := range uint64(draws) {
		looked := make([][]drawing, len(pairs))
		for _, f := range figures {
			// All figures are drawn from the same numbers, so they have the same runs.
			again := f.Redraw(rand.New(rand.NewPCG(n, 3)))
			for i, end := range pairs {
				g := f
				g.Sample = again.First(end)
				looked[i] = append(looked[i], drawing{g, g.Interval(Strict(looks))})
			}
		}
		s.drawn = append(s.drawn, looked)
	}
	return s
}

// Power returns the share of the comparisons that find a figure to be a regression if all figures are worse
// by the given size.
func (s *Simulation) Power(figure int, size float64) float64 { return s.found(size)[figure] }

// found returns the share of the comparisons in which each figure is a regression.
func (s *Simulation) found(size float64) []float64 {
	if shares, known := s.shares[size]; known {
		return shares
	}
	shares := make([]float64, len(s.figures))
	for _, looked := range s.drawn {
		for i, d := range s.end(looked, size) {
			if d == Regression {
				shares[i] += 1 / float64(len(s.drawn))
			}
		}
	}
	s.shares[size] = shares
	return shares
}

// end returns the decisions at the look at which the comparison ends.
func (s *Simulation) end(looked [][]drawing, size float64) (decisions []Decision) {
	for _, drawings := range looked {
		var tests []Test
		for _, d := range drawings {
			tests = append(tests, d.moved(d.interval, size, s.looks))
		}
		decisions, _ = Judge(tests)
		passed := 0
		for _, d := range decisions {
			switch d {
			case Regression:
				return decisions
			case Pass, Improvement:
				passed++
			}
		}
		if passed == len(decisions) {
			return decisions
		}
	}
	return decisions
}

// The search for the detectable size goes up to largest, and ends when it is known to within a fiftieth.
const (
	largest   = 7 // a thousand times as much
	precision = 1.02
)

// Detectable returns the smallest size by which all figures must be worse for a figure to be found in
// [Wanted] of the comparisons. It returns false if no size is.
func (s *Simulation) Detectable(figure int) (float64, bool) {
	enough := func(size float64) bool { return s.Power(figure, size) >= Wanted }
	high := max(s.figures[figure].Minimum, 0.001)
	if enough(high) {
		return high, true
	}
	low := high
	for !enough(high) {
		if low, high = high, high*1.5; high > largest {
			return 0, false
		}
	}
	for high > low*precision {
		if middle := math.Sqrt(low * high); enough(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high, true
}
