package stats

// A Level holds the measurements at one level of an axis, one per repetition.
type Level struct {
	N      float64 // position on the axis, positive
	Values []float64
}

// A Point is one value at a level of an axis.
type Point struct{ N, Value float64 }

// medians returns the medians of those levels that a curve on logarithmic scales can fit. A
// level's deviation is common to all its repetitions, so the level is the replicate: more
// repetitions are no more evidence of the curve between levels.
func medians(levels []Level) (all []Point) {
	for _, l := range levels {
		if m := Median(l.Values).Value; m > 0 {
			all = append(all, Point{l.N, m})
		}
	}
	return all
}
