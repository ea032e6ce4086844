package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Wanted is the power at which an effect counts as detectable.
const Wanted = 0.8

// A Precision describes how well a comparison separates an effect from no effect. It follows
// from the scatter of the observations, not from the difference that they show.
type Precision struct {
	needed float64 // the smallest estimate that shows an effect
	sd     float64 // standard deviation of the estimate
}

// PrecisionOf returns the precision of an estimate. strict is the same estimate with the
// confidence of [Strict], which allows for several figures judged together, and floor is the
// noise floor. The result is false if there are too few observations to show anything, or if
// the interval is infinite.
func PrecisionOf(e, strict Estimate, figures int, floor float64) (Precision, bool) {
	width := strict.High - strict.Low // NaN where one side has only zeros: both ends are infinite
	if e.Confidence < Confidence || strict.Confidence < Strict(figures) || math.IsInf(width, 0) || math.IsNaN(width) {
		return Precision{}, false
	}
	normal := distuv.UnitNormal.Quantile((1 + e.Confidence) / 2)
	return Precision{needed: max(floor, width/2), sd: (e.High - e.Low) / 2 / normal}, true
}

// Strict returns the confidence that Holm's correction requires of the first figure.
func Strict(figures int) float64 { return 1 - (1-Confidence)/float64(max(figures, 1)) }

// Detectable returns the smallest true effect that such a comparison shows with probability
// [Wanted].
func (p Precision) Detectable() float64 { return p.needed + distuv.UnitNormal.Quantile(Wanted)*p.sd }

// Power returns the probability that such a comparison shows a true effect of the given size.
func (p Precision) Power(size float64) float64 {
	if p.sd > 0 {
		return distuv.UnitNormal.CDF((size - p.needed) / p.sd)
	}
	if size > p.needed {
		return 1
	}
	return 0
}
