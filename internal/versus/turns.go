package main

import "slices"

// A comparison is what was measured of the two sides, and their ratio.
type comparison struct{ left, right, ratio float64 }

// once is a comparison of what is measured but once.
func once(left, right float64) comparison { return comparison{left, right, left / right} }

// byTurns measures side 0 and side 1 in each round, in alternating order, after
// one round that does not count. What is measured may be several figures; each
// has the medians of the sides and of the rounds' ratios.
func byTurns(rounds int, measure func(side int) ([]float64, error)) ([]comparison, error) {
	var all [][2][]float64
	for i := range rounds + 1 {
		var round [2][]float64
		for turn := range 2 {
			side := (i + turn) % 2
			var err error
			if round[side], err = measure(side); err != nil {
				return nil, err
			}
		}
		if i > 0 {
			all = append(all, round)
		}
	}
	figures := make([]comparison, len(all[0][0]))
	for f := range figures {
		of := func(value func(round [2][]float64) float64) float64 {
			var values []float64
			for _, round := range all {
				values = append(values, value(round))
			}
			return median(values)
		}
		figures[f] = comparison{
			left:  of(func(round [2][]float64) float64 { return round[0][f] }),
			right: of(func(round [2][]float64) float64 { return round[1][f] }),
			ratio: of(func(round [2][]float64) float64 { return round[0][f] / round[1][f] }),
		}
	}
	return figures, nil
}

func median[T float64 | int64](values []T) T {
	slices.Sort(values)
	return values[len(values)/2]
}
