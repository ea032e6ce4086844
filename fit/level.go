package fit

// A Level is what was measured at one level of an axis, once a repetition.
type Level struct {
	N      float64 // where on the axis, positive
	Values []float64
}

// A Point is one value at a level of an axis.
type Point struct{ N, Value float64 }

// medians are the levels' medians, of those that a curve on logarithmic scales can go
// through. What sets a level apart is common to all of its repetitions, so that the
// level is the replicate: more repetitions are no more evidence of how a curve runs
// between levels.
func medians(levels []Level) (all []Point) {
	for _, l := range levels {
		if m := Median(l.Values).Value; m > 0 {
			all = append(all, Point{l.N, m})
		}
	}
	return all
}
