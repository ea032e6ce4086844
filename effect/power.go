package effect

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/stampede-bench/stampede/fit"
)

// Wanted is the power at which an effect counts as one that could be shown.
const Wanted = 0.8

// A Precision is how well a comparison tells effects from none. It follows from the
// scatter of the observations, not from the difference that they show.
type Precision struct {
	needed float64 // the least estimate that shows an effect
	sd     float64 // of the estimate
}

// PrecisionOf is the precision of an estimate. Strict is the same estimate with the
// confidence of [Strict], since several figures are judged together, and floor the
// noise floor. Nothing is known where there are too few observations to show anything, or
// where they are infinitely far apart.
func PrecisionOf(e, strict fit.Estimate, figures int, floor float64) (Precision, bool) {
	width := strict.High - strict.Low // NaN where a side is nothing but zeros: both ends are infinite
	if e.Confidence < fit.Confidence || strict.Confidence < Strict(figures) || math.IsInf(width, 0) || math.IsNaN(width) {
		return Precision{}, false
	}
	normal := distuv.UnitNormal.Quantile((1 + e.Confidence) / 2)
	return Precision{needed: max(floor, width/2), sd: (e.High - e.Low) / 2 / normal}, true
}

// Strict is the confidence at which Holm's correction lets the first figure through.
func Strict(figures int) float64 { return 1 - (1-fit.Confidence)/float64(max(figures, 1)) }

// Detectable is the smallest true effect that such a comparison shows in [Wanted] of
// all cases.
func (p Precision) Detectable() float64 { return p.needed + distuv.UnitNormal.Quantile(Wanted)*p.sd }

// Power is the chance that such a comparison shows a true effect of the size.
func (p Precision) Power(size float64) float64 {
	if p.sd > 0 {
		return distuv.UnitNormal.CDF((size - p.needed) / p.sd)
	}
	if size > p.needed {
		return 1
	}
	return 0
}
