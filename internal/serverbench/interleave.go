package main

import "slices"

// A comparison holds the figures of two sides and their ratio.
type comparison struct{ left, right, ratio float64 }

// once returns the comparison of figures that are measured once.
func once(left, right float64) comparison { return comparison{left, right, left / right} }

// A figure is a quantity measured on several sides. It holds each side's median, and for each
// side the median of the rounds' ratios of side 0 to it.
type figure struct{ medians, ratios []float64 }

// against compares side 0 with another side.
func (f figure) against(side int) comparison {
	return comparison{f.medians[0], f.medians[side], f.ratios[side]}
}

// interleave measures all sides in each round, in alternating order, after one round that
// does not count. A measurement may return several figures.
func interleave(rounds, sides int, measure func(side int) ([]float64, error)) ([]figure, error) {
	var all [][][]float64 // by round and side
	for i := range rounds + 1 {
		round := make([][]float64, sides)
		for turn := range sides {
			side := turn
			if i%2 == 1 {
				side = sides - 1 - turn
			}
			var err error
			if round[side], err = measure(side); err != nil {
				return nil, err
			}
		}
		if i > 0 {
			all = append(all, round)
		}
	}
	figures := make([]figure, len(all[0][0]))
	for f := range figures {
		figures[f] = summarize(all, f, sides)
	}
	return figures, nil
}

func summarize(rounds [][][]float64, f, sides int) (sum figure) {
	for side := range sides {
		var values, ratios []float64
		for _, round := range rounds {
			values = append(values, round[side][f])
			ratios = append(ratios, round[0][f]/round[side][f])
		}
		sum.medians, sum.ratios = append(sum.medians, median(values)), append(sum.ratios, median(ratios))
	}
	return sum
}

func median[T float64 | int64](values []T) T {
	slices.Sort(values)
	return values[len(values)/2]
}
