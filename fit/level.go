package fit

// A Level is what was measured at one level of an axis, once a repetition.
type Level struct {
	N      float64 // where on the axis, positive
	Values []float64
}

// A Point is one value at a level of an axis.
type Point struct{ N, Value float64 }

// points are all values of the levels that a curve on logarithmic scales can
// go through.
func points(levels []Level) (all []Point) {
	for _, l := range levels {
		for _, v := range l.Values {
			if v > 0 {
				all = append(all, Point{l.N, v})
			}
		}
	}
	return all
}

// count is how many of the levels have a point.
func count(all []Point) int {
	seen := map[float64]bool{}
	for _, p := range all {
		seen[p.N] = true
	}
	return len(seen)
}
