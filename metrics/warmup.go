package metrics

import "time"

// A Warmup holds the measurements before the window, which do not count.
type Warmup struct {
	Took   time.Duration
	Steady bool      // throughput had stopped rising when the window opened
	Rates  []float64 // rounds per second, in equal slices of the warm-up
}

// A slice of a warm-up beats the best earlier one if its rate is higher by more than the share
// rising. Throughput is steady when none of the last plateau slices does so.
const (
	rising  = 0.02
	plateau = 3
)

// Add adds the rate of one more slice and reports whether throughput is steady. It detects a
// slow rise too, since it compares each slice with the best earlier one.
func (w *Warmup) Add(rate float64) bool {
	w.Rates = append(w.Rates, rate)
	best, bestAt := 0.0, 0
	for i, r := range w.Rates {
		if r > best*(1+rising) {
			best, bestAt = r, i
		}
	}
	w.Steady = len(w.Rates)-1-bestAt >= plateau
	return w.Steady
}
