package history

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/internal/golden"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// An informed test is a likelihood-ratio test that knows everything about a series except the place of
// its step: the standard deviation of the noise, the size and the sign of the step, and the possible
// correlations ρ of neighbours, each as probable as the others. Only the level before the step is unknown.
// A test that has to estimate these finds less, so it bounds what Detect can find.
type informed struct {
	rhos  []float64
	step  float64
	limit float64 // of the logarithm of the likelihood ratio
}

// ratio returns the logarithm of how much more probable the values are if a step began among the last
// five of them than if none did.
func (f informed) ratio(values []float64) float64 {
	var with, without []float64
	for _, rho := range f.rhos {
		level := whitened(ones(len(values), 0), rho)
		likelihood := func(v []float64) float64 { return logLikelihood(whitened(v, rho), level, rho) }
		without = append(without, likelihood(values))
		for at := max(2*fewest, len(values)-fewest); at < len(values); at++ {
			shifted := slices.Clone(values)
			for i := at; i < len(values); i++ {
				shifted[i] -= f.step
			}
			with = append(with, likelihood(shifted))
		}
	}
	return logSum(with) - logSum(without)
}

// first returns the number of values after which the test finds a step, or 0.
func (f informed) first(values []float64) int {
	for end := 2*fewest + 1; end <= len(values); end++ {
		if f.ratio(values[:end]) > f.limit {
			return end
		}
	}
	return 0
}

// calibrate sets the limit that 5 % of series without a step pass at some value.
func (f *informed) calibrate(series int) {
	random := rand.New(rand.NewPCG(3, 4))
	var highest []float64
	for _, rho := range f.rhos {
		for range series {
			values, _ := trial{rho: rho}.series(random)
			most := math.Inf(-1)
			for end := 2*fewest + 1; end <= length; end++ {
				most = max(most, f.ratio(values[:end]))
			}
			highest = append(highest, most)
		}
	}
	slices.Sort(highest)
	f.limit = highest[len(highest)*95/100]
}

// prompt returns in how many series the step is found within five values.
func (f informed) prompt(t trial, series int) (found int) {
	random := rand.New(rand.NewPCG(1, 2))
	for range series {
		values, at := t.series(random)
		if seen := f.first(values); seen > at && seen <= at+fewest {
			found++
		}
	}
	return found
}

// whitened returns the values without the part that the correlation with the value before explains, in
// standard deviations.
func whitened(values []float64, rho float64) []float64 {
	white := make([]float64, len(values))
	white[0] = values[0] / sd
	for i := 1; i < len(values); i++ {
		white[i] = (values[i] - rho*values[i-1]) / (sd * math.Sqrt(1-rho*rho))
	}
	return white
}

// ones returns a series that is 0 before a place, and 1 from there on.
func ones(n, at int) []float64 {
	v := make([]float64, n)
	for i := at; i < n; i++ {
		v[i] = 1
	}
	return v
}

// logLikelihood returns that of whitened values whose level may be anything.
func logLikelihood(white, level []float64, rho float64) float64 {
	var squares, product, scale float64
	for i, v := range white {
		squares, product, scale = squares+v*v, product+v*level[i], scale+level[i]*level[i]
	}
	return -(squares-product*product/scale)/2 - math.Log(scale)/2 - float64(len(white)-1)*math.Log(1-rho*rho)/2
}

// logSum returns the logarithm of a sum of numbers that are given by their logarithms.
func logSum(logs []float64) float64 {
	most := slices.Max(logs)
	sum := 0.0
	for _, l := range logs {
		sum += math.Exp(l - most)
	}
	return most + math.Log(sum)
}

// TestBound writes the table of what an informed test finds, in docs/history.md.
func TestBound(t *testing.T) {
	testenv.SkipIfRaced(t)
	testenv.SkipIfShort(t)
	const each = 500
	rhos := []float64{0, 0.3, 0.5}
	unknown := informed{rhos: rhos, step: math.Log1p(0.05)}
	unknown.calibrate(2 * each)
	var b bytes.Buffer
	fmt.Fprintln(&b, "| step of 5 %, noise 2 %: found within 5 values | knows ρ | knows that ρ is 0, 0.3 or 0.5 | `stampede history` |")
	fmt.Fprintln(&b, "|---|--:|--:|--:|")
	for _, rho := range rhos {
		known := informed{rhos: []float64{rho}, step: unknown.step}
		known.calibrate(2 * each)
		series := trial{rho: rho, step: 0.05}
		ours := series.tally(each, limit).prompt
		fmt.Fprintf(&b, "| ρ %v | %s | %s | %s |\n", rho, share(known.prompt(series, each)), share(unknown.prompt(series, each)), share(ours))
	}
	golden.Compare(t, "testdata/bound.md", b.Bytes())
}
