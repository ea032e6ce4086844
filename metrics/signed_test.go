package metrics

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// near reports whether two durations are equal within the precision of a histogram.
func near(got, want int64) bool {
	off := got - want
	return max(off, -off) <= max(want, -want)/500
}

// Quantiles of values on both sides of zero equal those of the sorted values.
func TestSigned(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		name     string
		from, to time.Duration
	}{
		{"all positive", time.Microsecond, time.Second},
		{"all negative", -time.Second, -time.Microsecond},
		{"most negative", -time.Second, 100 * time.Millisecond},
		{"half", -time.Second, time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s Signed
			var all []int64
			for range 1000 {
				d := c.from + time.Duration(rng.Int64N(int64(c.to-c.from)))
				s.Record(d)
				all = append(all, int64(d))
			}
			slices.Sort(all)
			for _, q := range []float64{0, 1, 9, 10, 50, 90, 91, 99, 99.9, 100} {
				want := all[max(int(q*10+0.5), 1)-1]
				if got := s.Quantile(q); !near(got, want) {
					t.Errorf("%v %%: %d, want %d", q, got, want)
				}
			}
			if s.Count() != 1000 || !near(s.Min(), all[0]) || !near(s.Max(), all[999]) {
				t.Errorf("%d from %d to %d, want 1,000 from %d to %d", s.Count(), s.Min(), s.Max(), all[0], all[999])
			}
		})
	}
}

func TestSignedZeroAndEmpty(t *testing.T) {
	var s Signed
	if s.Count() != 0 || s.Min() != 0 || s.Max() != 0 || s.Quantile(50) != 0 {
		t.Error("an empty distribution has values")
	}
	s.Record(0)
	s.Record(-5)
	before := s.Clone()
	s.Record(7)
	if s.Min() != -5 || s.Quantile(50) != 0 || s.Max() != 7 || before.Max() != 0 || before.Count() != 2 {
		t.Errorf("from %d by %d to %d, a copy up to %d; want −5, 0, 7, and 0", s.Min(), s.Quantile(50), s.Max(), before.Max())
	}
}
