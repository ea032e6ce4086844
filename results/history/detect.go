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
		if p < limit {
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
	c := stats.NewContrast(values, tailFrom(at, len(values)))
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
