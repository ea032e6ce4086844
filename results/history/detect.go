package history

import (
	"math"

	"github.com/stampede-bench/stampede/results/stats"
)

// remembered is how many values before the newest a change is looked for in.
const remembered = 60

// limit is the p-value of a change, far below 5 %: the place of a change is chosen among many, and a
// history is judged again after every new value. TestFalseAlarms holds it against the share of series
// without a change in which a change is found.
const limit = 1.8e-3

// rankLimit is the p-value of a change by its ranks alone, which few values on two levels cannot pass by chance. Five
// values before and five after a change pass it if they do not overlap. The limits hold together: false alarms
// are as many as TestFalseAlarms says with both.
const rankLimit = 9e-3

// A Change is a place from which on a series differs.
type Change struct {
	At   int     // the place of the first value that is different
	Seen int     // the number of values after which the change was found
	To   int     // the place of the last value of a drift; At for a step
	Size float64 // the difference
	P    float64 // of a step at a given place; 0 for an exact count
}

// Drift reports whether the change is slow.
func (c Change) Drift() bool { return c.To > c.At }

// Detect finds the changes of a series that has noise, in the order in which they came. It judges the
// series after each value, as its readers do, so a change that was found stays, however many values follow.
// The next few values make its place more exact; later ones decide about its size, and whether it is a drift.
func Detect(values []float64) []Change { return detect(values, limit) }

func detect(values []float64, limit float64) (found []Change) {
	before, start := 0, 0 // where the values before the last change begin, and those after it
	for end := 2 * fewest; end <= len(values); end++ {
		if n := len(found); n > 0 && end <= found[n-1].Seen+2*near {
			c := &found[n-1]
			at, step, p := refine(values[before:end], c.At-before)
			c.At, c.To, c.Size, c.P = before+at, before+at, step, p
			start = c.At
		}
		from := max(start, end-remembered)
		part := values[from:end]
		at := divide(part, fewest)
		if at == 0 {
			continue
		}
		at, step, p := refine(part, at)
		if p < limit && stats.NewRankSum(part, tailFrom(at, len(part))).P(0) < rankLimit {
			before, start = from, from+at
			found = append(found, Change{At: start, To: start, Seen: end, Size: step, P: p})
		}
	}
	return drifts(values, found)
}

// near is how far the most significant place may be from the one at which the distributions differ most, and
// promising is the p-value of the latter from which on it is not looked for.
const (
	near      = 3
	promising = 10 * limit
)

// refine returns the most significant place near the given one. It does not look for one if the given place
// is not even promising. Of places that leave no doubt it returns the one that leaves the least deviations.
func refine(values []float64, about int) (at int, step, p float64) {
	at = about
	step, p = significance(values, at)
	for i := max(fewest, about-near); p < promising && i <= min(len(values)-fewest, about+near); i++ {
		s, q := significance(values, i)
		closer := q < p
		if p < doubtless && q < doubtless {
			closer = deviations(values, i) < deviations(values, at)
		}
		if closer {
			at, step, p = i, s, q
		}
	}
	return at, step, p
}

// doubtless is a p-value below which a smaller one says nothing more.
const doubtless = 1e-9

// deviations returns the sum of the deviations from the medians before the place and from it on.
func deviations(values []float64, at int) (sum float64) {
	for _, part := range [][]float64{values[:at], values[at:]} {
		median := stats.Median(part).Value
		for _, v := range part {
			sum += math.Abs(v - median)
		}
	}
	return sum
}

// significance returns the step between the two parts of the values and its p-value.
//
// Note: the p-value is that of a step at a given place. The place was chosen as the most different one,
// and a history is judged after every new value. The limit of Detect allows for both.
func significance(values []float64, at int) (step, p float64) {
	c := stats.NewModels(values, tailFrom(at, len(values)))
	return c.Difference(), c.P(0)
}

// tailFrom says of n values which of them are at the place or after it.
func tailFrom(at, n int) []bool {
	after := make([]bool, n)
	for i := at; i < n; i++ {
		after[i] = true
	}
	return after
}

// fewest is the least number of values before and after a change.
const fewest = 5

// divide returns the place that divides the values into the two parts whose distributions differ most,
// by the energy distance of E-divisive (Matteson and James, 2014, with the exponent 1). Each part has at
// least the given number of values. It returns 0 if there are too few values.
func divide(values []float64, least int) (at int) {
	n := len(values)
	var left, right float64 // sums of the distances within each part
	for i := range values {
		right += distance(values[i], values[i+1:])
	}
	all, best := right, math.Inf(-1)
	for i := 0; i < n-1; i++ {
		left += distance(values[i], values[:i])
		right -= distance(values[i], values[i+1:])
		a, b := float64(i+1), float64(n-i-1)
		if i+1 < least || n-i-1 < least {
			continue
		}
		between := 2 * (all - left - right) / (a * b)
		within := pairMean(left, a) + pairMean(right, b)
		if energy := a * b / (a + b) * (between - within); energy > best {
			at, best = i+1, energy
		}
	}
	return at
}

// distance returns the sum of the distances from a value to others.
func distance(from float64, others []float64) (sum float64) {
	for _, v := range others {
		sum += math.Abs(v - from)
	}
	return sum
}

// pairMean returns the mean over the pairs among n values, whose sum is given.
func pairMean(sum, n float64) float64 {
	if n < 2 {
		return 0
	}
	return 2 * sum / (n * (n - 1))
}

// drifts replaces steps by drifts where a straight line, or a level that a line follows, describes the
// values better than the steps do.
func drifts(values []float64, steps []Change) (all []Change) {
	for i := 0; i < len(steps); {
		last := i // of the steps in the same direction
		for last+1 < len(steps) && steps[last+1].Size*steps[i].Size > 0 {
			last++
		}
		all = append(all, explain(values, steps, i, last)...)
		i = last + 1
	}
	return all
}

// positive is by how much the criterion of a line must be less than that of steps: a step that few values
// follow looks like the beginning of a line. From 2 on such a difference is called positive evidence (Kass
// and Raftery, 1995).
const positive = 3

// explain returns the steps from first to last, or one drift instead of them.
func explain(values []float64, steps []Change, first, last int) []Change {
	begin, to := 0, len(values)
	if first > 0 {
		begin = steps[first-1].At
	}
	if last+1 < len(steps) {
		to = steps[last+1].At
	}
	part := stats.Clip(values[begin:to], tailFrom(steps[first].At-begin, to-begin))
	var places []int
	for _, s := range steps[first : last+1] {
		places = append(places, s.At-begin)
	}
	at, size, line := ramp(part)
	if line+positive >= criterion(part, levels(part, places), 2*len(places)+1) {
		return steps[first : last+1]
	}
	drift := steps[first]
	drift.At, drift.To, drift.Size = begin+at, to-1, size
	return []Change{drift}
}

// criterion is the Bayesian information criterion: less is better.
func criterion(values []float64, squares float64, parameters int) float64 {
	n := float64(len(values))
	return n*math.Log(squares/n+1e-24) + float64(parameters)*math.Log(n)
}

// levels returns the sum of the squared deviations from the means between the places.
func levels(values []float64, places []int) (squares float64) {
	from := 0
	for _, to := range append(places, len(values)) {
		part := values[from:to]
		m := stats.Mean(part)
		for _, v := range part {
			squares += (v - m) * (v - m)
		}
		from = to
	}
	return squares
}

// ramp fits a level that a straight line follows, and returns where the line begins, its rise, and the
// criterion of the fit.
func ramp(values []float64) (begin int, rise, best float64) {
	best = math.Inf(1)
	x := make([]float64, len(values))
	for at := 0; at <= len(values)-2*fewest; at++ {
		for i := range x {
			x[i] = float64(max(0, i-at))
		}
		level, slope := stats.Line(x, values)
		squares, parameters := 0.0, 3
		for i, v := range values {
			squares += (v - level - slope*x[i]) * (v - level - slope*x[i])
		}
		if at == 0 {
			parameters = 2
		}
		if c := criterion(values, squares, parameters); c < best {
			begin, rise, best = at, slope*x[len(x)-1], c
		}
	}
	return begin, rise, best
}
