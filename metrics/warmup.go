package metrics

import "time"

// A Warmup is what was measured before the window, and thrown away.
type Warmup struct {
	Took   time.Duration
	Steady bool      // throughput had stopped rising when the window opened
	Rates  []float64 // rounds a second, in equal slices of the warm-up
}

// A slice of a warm-up beats the best one before it if its rate is higher by more
// than rising. Throughput is steady when none of the last plateau slices does.
const (
	rising  = 0.02
	plateau = 3
)

// Add counts the rate of one slice more, and tells whether throughput is steady. A
// slow rise is seen too, since each slice is compared with the best one before it.
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
