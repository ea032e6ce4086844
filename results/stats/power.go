package stats

import (
	"math"
	"math/rand/v2"
	"sort"
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
	// Redraw returns another such sample, drawn at random from the scatter of this one about its estimate,
	// without a difference. sign is 1, or -1 for the mirror image of the sample that the same random numbers
	// give.
	Redraw(random *rand.Rand, estimate, sign float64) Sample
	// First returns what the first runs show, which are the given share of all.
	First(share float64) Sample
}

// A Figure is one of the figures that a comparison judges together.
type Figure struct {
	Sample
	Lower bool // a lower value is worse
	Timed bool // timed figures become worse together, and so do the others
	Limits
}

// A Test is what [Judge] decides by.
type Test struct {
	Estimate         // of a difference where a higher value is worse
	P        float64 // allows for the number of looks
	Limits
}

// Test returns the test of the figure at one of several looks, after the figure has become worse by the
// given size. e is its interval before, of the confidence [Strict] of the looks.
func (f Figure) Test(e Estimate, size float64, looks int) Test {
	if f.Lower {
		e.Value, e.Low, e.High = -e.Value, -e.High, -e.Low
	}
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
	shares  map[worsening][]float64
}

// A worsening is a difference of a size in all figures that are timed, or in all that are not.
type worsening struct {
	size  float64
	timed bool
}

// A drawing is a sample and its interval, which moves with a difference that is added.
type drawing struct {
	Figure
	interval Estimate
}

// The number of draws is enough to tell a share of 80 % from one of 70 %. Many figures or looks share so
// many draws that the simulation ends within about a second.
const (
	mostDraws   = 250
	fewestDraws = 40
	allDraws    = 1500
)

// Simulate prepares the simulation of a comparison that judges the figures after each of the given numbers
// of pairs. looks is how often it would have judged them if it had not ended before.
func Simulate(figures []Figure, pairs []int, looks int) *Simulation {
	s := &Simulation{figures: figures, looks: looks, shares: map[worsening][]float64{}}
	draws := min(max(allDraws/max(1, len(figures)*len(pairs)), fewestDraws), mostDraws)
	var estimates []float64
	for _, f := range figures {
		estimates = append(estimates, f.Interval(Confidence).Value)
	}
	for n := range draws {
		looked := make([][]drawing, len(pairs))
		sign := float64(1 - 2*(n%2)) // so that chance favours neither direction
		for i, f := range figures {
			// All figures are drawn from the same numbers, so they have the same runs.
			again := f.Redraw(rand.New(rand.NewPCG(uint64(n/2), 3)), estimates[i], sign)
			for look, end := range pairs {
				g := f
				g.Sample = again.First(float64(end) / float64(pairs[len(pairs)-1]))
				looked[look] = append(looked[look], drawing{g, g.Interval(Strict(looks))})
			}
		}
		s.drawn = append(s.drawn, looked)
	}
	return s
}

// Power returns the share of the comparisons that find a figure to be a regression if it is worse by the
// given size, and so are those that become worse with it. One that is judged several times does not end
// before, though a regression of another figure would end it.
func (s *Simulation) Power(figure int, size float64) float64 {
	w := worsening{size, s.figures[figure].Timed}
	if shares, known := s.shares[w]; known {
		return shares[figure]
	}
	shares := make([]float64, len(s.figures))
	for _, looked := range s.drawn {
		found := make([]bool, len(s.figures))
		for _, drawings := range looked {
			tests := make([]Test, len(drawings))
			for i, d := range drawings {
				if d.Timed == w.timed {
					tests[i] = d.Test(d.interval, size, s.looks)
				} else {
					tests[i] = d.Test(d.interval, 0, s.looks)
				}
			}
			decisions, _ := Judge(tests)
			for i, d := range decisions {
				found[i] = found[i] || d == Regression
			}
		}
		for i := range found {
			if found[i] {
				shares[i] += 1 / float64(len(s.drawn))
			}
		}
	}
	s.shares[w] = shares
	return shares[figure]
}

// The sizes that are tried are largest divided by a power of finer, so that figures share most of them.
const (
	largest = 7 // a thousand times as much
	finer   = 1.025
)

// Detectable returns the smallest size by which a figure, and those that become worse with it, must be
// worse to be found in [Wanted] of the comparisons. It returns false if no size is.
func (s *Simulation) Detectable(figure int) (float64, bool) {
	least := max(s.figures[figure].Minimum, 1e-4)
	switch {
	case s.Power(figure, least) >= Wanted:
		return least, true
	case s.Power(figure, largest) < Wanted:
		return 0, false
	}
	size := func(n int) float64 { return largest / math.Pow(finer, float64(n)) }
	steps := int(math.Log(largest/least) / math.Log(finer))
	return size(sort.Search(steps, func(n int) bool { return s.Power(figure, size(n+1)) < Wanted })), true
}
