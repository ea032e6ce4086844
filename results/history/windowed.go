package history

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// The defaults of Apache Otava.
const (
	windowLength = 50
	windowP      = 0.001
)

// Windowed finds changes as Apache Otava does by default: candidates that divide windows of 50 values,
// tested with Student's t, then the least significant ones are removed until each has p below 0.001
// between its neighbours. It serves as a comparison: a t-test takes neighbouring values for independent.
func Windowed(values []float64) (places []int) {
	for from := 0; ; from += windowLength / 2 {
		to := min(from+windowLength, len(values))
		places = splits(values, max(0, from), to, places)
		if to == len(values) {
			break
		}
	}
	for len(places) > 0 {
		worst, most := 0, -1.0
		for i := range places {
			if p := between(values, places, i); p > most {
				worst, most = i, p
			}
		}
		if most < windowP {
			break
		}
		places = append(places[:worst], places[worst+1:]...)
	}
	return places
}

// splits adds the candidates between from and to, in order. Candidates are weaker than changes.
func splits(values []float64, from, to int, places []int) []int {
	start := from
	if n := len(places); n > 0 {
		start = max(start, places[n-1])
	}
	at := divide(values[start:to], 2)
	if at == 0 || studentT(values[start:start+at], values[start+at:to]) > 10*windowP {
		return places
	}
	places = splits(values, start, start+at, places)
	places = append(places, start+at)
	return splits(values, start+at, to, places)
}

func between(values []float64, places []int, i int) float64 {
	from, to := 0, len(values)
	if i > 0 {
		from = places[i-1]
	}
	if i+1 < len(places) {
		to = places[i+1]
	}
	return studentT(values[from:places[i]], values[places[i]:to])
}

// studentT returns the p-value of the difference of two means.
func studentT(a, b []float64) float64 {
	n, m := float64(len(a)), float64(len(b))
	meanA, varA := stat.PopMeanVariance(a, nil)
	meanB, varB := stat.PopMeanVariance(b, nil)
	pooled := (varA*n + varB*m) / (n + m - 2)
	return twoSided(meanA-meanB, math.Sqrt(pooled*(1/n+1/m)), n+m-2)
}
