package stats

import "math"

// A Crossing is where a ratio reaches a factor for good.
type Crossing struct {
	At float64 // between two levels by interpolation on logarithmic scales
	// Always says that the ratio is at least the factor from the first level on, so where it
	// reached the factor is unknown.
	Always bool
}

// Cross finds the level from which on the ratio of two forms, given in ascending order of N, is
// at least the factor. It returns false if the ratio is less at the last level.
func Cross(ratios []Point, factor float64) (Crossing, bool) {
	last := len(ratios) - 1
	first := last + 1 // first index from which on the ratio is at least the factor
	for first > 0 && ratios[first-1].Value >= factor {
		first--
	}
	switch {
	case first > last:
		return Crossing{}, false
	case first == 0:
		return Crossing{At: ratios[0].N, Always: true}, true
	}
	below, above := ratios[first-1], ratios[first]
	part := math.Log(factor/below.Value) / math.Log(above.Value/below.Value)
	return Crossing{At: below.N * math.Pow(above.N/below.N, part)}, true
}
