package metrics_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stampede-bench/stampede/metrics"
)

// A warm-up ends when throughput has stopped rising: as soon as possible if it never rises, and
// only after nearly all of a slow rise.
func TestWarmupLastsUntilSteady(t *testing.T) {
	slices := func(rate func(i int) float64) (w metrics.Warmup) {
		for i := range 100 {
			if w.Add(rate(i)) {
				return w
			}
		}
		return w
	}
	if w := slices(func(int) float64 { return 1000 }); len(w.Rates) != 4 || !w.Steady {
		t.Errorf("without a rise: %d slices, steady %v", len(w.Rates), w.Steady)
	}
	if w := slices(func(i int) float64 { return 1000 * math.Pow(1.03, float64(i)) }); w.Steady {
		t.Errorf("steady after %d slices of a rise that never ends", len(w.Rates))
	}
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 1))
		w := slices(func(i int) float64 { // from 550 to 1,130 rounds/s, like a cold JVM
			return (1130 - 580*math.Exp(-float64(i)/8)) * (1 + 0.01*r.NormFloat64())
		})
		if last := w.Rates[len(w.Rates)-1]; !w.Steady || last < 0.88*1130 {
			t.Errorf("seed %d: steady %v after %d slices at %.0f rounds/s", seed, w.Steady, len(w.Rates), last)
		}
	}
}
