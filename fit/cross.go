package fit

import "math"

// A Crossing is where a ratio gets to a factor and stays there.
type Crossing struct {
	At float64 // between two levels by interpolation on logarithmic scales
	// Always says that the ratio is there from the first level on, so that
	// nothing is known of where it got there.
	Always bool
}

// Cross finds from which level on the ratio of two forms, given by rising N, is
// the factor or more. It is false if it is less at the last level.
func Cross(ratios []Point, factor float64) (Crossing, bool) {
	last := len(ratios) - 1
	first := last + 1 // of those from which on it is the factor or more
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
