package history

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// outlying is how many standard deviations a value may be from the median of its part of the series.
// A value further away counts as if it were that far: a single disturbed run is no change.
const outlying = 3

// significance returns the step between the two parts of the values and its p-value. The values may be
// correlated with those before them: it estimates the correlation ρ of neighbours, and tests the step in
// the prewhitened values v[i]-ρv[i-1], which are independent if the series is autoregressive.
//
// Note: the p-value is that of a step at a given place. The place was chosen as the most different one,
// and a history is judged after every new value. The limit of Detect allows for both.
func significance(values []float64, at int) (step, p float64) {
	clipped := clip(values, at)
	before, after := stat.Mean(clipped[:at], nil), stat.Mean(clipped[at:], nil)
	residuals := make([]float64, len(clipped))
	for i, v := range clipped {
		residuals[i] = v - before
		if i >= at {
			residuals[i] = v - after
		}
	}
	return regress(clipped, at, correlation(residuals))
}

// clip moves outliers to the nearest value that is no outlier.
func clip(values []float64, at int) []float64 {
	clipped := slices.Clone(values)
	var deviations []float64
	for _, part := range [][]float64{values[:at], values[at:]} {
		m := median(part)
		for _, v := range part {
			deviations = append(deviations, math.Abs(v-m))
		}
	}
	limit := outlying * 1.4826 * median(deviations)
	for _, part := range [][]float64{clipped[:at], clipped[at:]} {
		m := median(part)
		for i, v := range part {
			part[i] = min(max(v, m-limit), m+limit)
		}
	}
	return clipped
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// A few values cannot tell how strongly neighbours are correlated, and an estimate that is too low makes
// noise look like a step. The estimate is therefore averaged with a typical correlation, which counts as
// much as this number of values.
const (
	typical = 0.4
	weight  = 40
)

// correlation returns the correlation of neighbouring residuals of two means, from 0 to 0.9. The plain
// estimate is too low in short series; the correction is the usual one of first order.
func correlation(residuals []float64) float64 {
	var products, squares float64
	for i, r := range residuals {
		squares += r * r
		if i > 0 {
			products += r * residuals[i-1]
		}
	}
	if squares == 0 {
		return typical
	}
	n := float64(len(residuals))
	estimate := (products/squares + 2/n) / (1 - 4/n)
	return min(max((n*estimate+weight*typical)/(n+weight), 0), 0.9)
}

// regress fits a level and a step to the prewhitened values, by least squares, and tests the step with
// Student's t.
func regress(values []float64, at int, rho float64) (step, p float64) {
	var ll, ls, ss, ly, sy, yy float64
	first := math.Sqrt(1 - rho*rho) // the first value has none before it (Prais and Winsten)
	for i, v := range values {
		level, jump, y := first, 0.0, first*v
		if i > 0 {
			level, y = 1-rho, v-rho*values[i-1]
		}
		switch {
		case i == at:
			jump = 1
		case i > at:
			jump = 1 - rho
		}
		ll, ls, ss = ll+level*level, ls+level*jump, ss+jump*jump
		ly, sy, yy = ly+level*y, sy+jump*y, yy+y*y
	}
	determinant := ll*ss - ls*ls
	level := (ly*ss - sy*ls) / determinant
	step = (sy*ll - ly*ls) / determinant
	free := float64(len(values) - 3) // a level, a step and ρ
	variance := max(yy-level*ly-step*sy, 0) / free
	return step, twoSided(step, math.Sqrt(variance*ll/determinant), free)
}

// twoSided returns the p-value of a difference with its standard error, by Student's t.
func twoSided(difference, err, free float64) float64 {
	switch {
	case math.Abs(difference) < 1e-12:
		return 1
	case err < 1e-12:
		return 0
	}
	return 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: free}.CDF(-math.Abs(difference)/err)
}
