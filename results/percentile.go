package results

import (
	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/stampede-bench/stampede/metrics"
)

// Beyond is how many observations must lie beyond a percentile for it to be known.
const Beyond = metrics.Beyond

// Percentile returns a percentile, given as a number from 0 to 100. It returns false if the percentile is not
// known: there are too few observations, or none.
func (d *Distribution) Percentile(percentile float64) (value int64, known bool) {
	if d == nil {
		return 0, false
	}
	written, ok := map[float64]*int64{50: d.P50, 90: d.P90, 99: d.P99, 99.9: d.P999}[percentile]
	switch {
	case ok && written == nil:
		return 0, false
	case ok:
		return *written, true
	}
	if v, ok := d.Others[percentile]; ok {
		return v, true
	}
	h, err := hdrhistogram.Decode([]byte(d.HDR))
	if err != nil { // the medians of a sweep have no histogram
		return 0, false
	}
	return metrics.PercentileWith(h, d.Lost, percentile)
}

func P50(d *Distribution) *int64 {
	if d == nil {
		return nil
	}
	return d.P50
}

func P99(d *Distribution) *int64 {
	if d == nil {
		return nil
	}
	return d.P99
}
