package metrics

import (
	"math"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Beyond is the number of observations that must lie beyond a percentile for it to be known.
const Beyond = 10

// Supports reports whether count observations are enough for a percentile from 0 to 100. It is
// the only rule for this: if it returns false, a percentile is not shown, written or compared.
func Supports(count int64, percentile float64) bool {
	const whole = 1e6
	rest := int64(math.Round((100 - percentile) / 100 * whole)) // 100-99.9 is not 0.1
	return rest > 0 && count >= (Beyond*whole+rest-1)/rest
}

// Percentile returns a percentile from 0 to 100 of a histogram. known is false if there are too
// few observations. The histogram may be nil.
func Percentile(h *hdrhistogram.Histogram, percentile float64) (value int64, known bool) {
	if h == nil || !Supports(h.TotalCount(), percentile) {
		return 0, false
	}
	return h.ValueAtQuantile(percentile), true
}
