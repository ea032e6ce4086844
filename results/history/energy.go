package history

import "math"

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
