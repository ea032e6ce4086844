package openloop

import (
	"math"
	"slices"
	"testing"
	"time"
)

// due returns the arrivals of a schedule in its window, in seconds.
func due(t *testing.T, rate string, arrival Arrival, seed uint64, total time.Duration) (at []float64) {
	t.Helper()
	r, err := ParseRate(rate)
	if err != nil {
		t.Fatal(err)
	}
	s := newSchedule(r, arrival, time.Second, total, seed)
	for {
		switch d := s.next(); {
		case d >= total:
			return at
		case d >= 0:
			at = append(at, d.Seconds())
		}
	}
}

func TestConstantArrivalsComeEvenly(t *testing.T) {
	at := due(t, "1000", Constant, 1, 10*time.Second)
	if len(at) != 10_000 && len(at) != 10_001 {
		t.Fatalf("%d arrivals, want 10,000", len(at))
	}
	for i := 1; i < len(at); i++ {
		if gap := at[i] - at[i-1]; math.Abs(gap-0.001) > 1e-8 {
			t.Fatalf("%v s between two", gap)
		}
	}
}

// distance is the Kolmogorov–Smirnov statistic: the largest difference between the
// empirical distribution of the values and the expected one.
func distance(values []float64, share func(float64) float64) (d float64) {
	slices.Sort(values)
	n := float64(len(values))
	for i, v := range values {
		d = max(d, share(v)-float64(i)/n, float64(i+1)/n-share(v))
	}
	return d
}

// critical is the distance that one in a thousand samples of size n exceeds.
func critical(n int) float64 { return 1.95 / math.Sqrt(float64(n)) }

// TestPoissonGaps checks that the gaps between Poisson arrivals are exponentially
// distributed, and that the test tells constant arrivals apart from them.
func TestPoissonGaps(t *testing.T) {
	exponential := func(gap float64) float64 { return 1 - math.Exp(-1000*gap) }
	for _, seed := range []uint64{1, 2, 3} {
		if gaps := gapsOf(due(t, "1000", Poisson, seed, 10*time.Second)); distance(gaps, exponential) > critical(len(gaps)) {
			t.Errorf("seed %d: the distance is %v of %d gaps", seed, distance(gaps, exponential), len(gaps))
		}
	}
	if gaps := gapsOf(due(t, "1000", Constant, 1, 10*time.Second)); distance(gaps, exponential) < critical(len(gaps)) {
		t.Error("the test takes constant arrivals for Poisson's")
	}
}

func gapsOf(at []float64) (gaps []float64) {
	for i := 1; i < len(at); i++ {
		gaps = append(gaps, at[i]-at[i-1])
	}
	return gaps
}

// TestPoissonFollowsTheRate checks that arrivals follow a rate that changes.
func TestPoissonFollowsTheRate(t *testing.T) {
	const total = 10 * time.Second
	for _, rate := range []string{"100..2000", "2000,100,500"} {
		r, err := ParseRate(rate)
		if err != nil {
			t.Fatal(err)
		}
		follows := func(at float64) float64 {
			return r.Expected(time.Duration(at*float64(time.Second)), total) / r.Expected(total, total)
		}
		at := due(t, rate, Poisson, 5, total)
		if d := distance(at, follows); d > critical(len(at)) {
			t.Errorf("%s: the distance is %v of %d arrivals", rate, d, len(at))
		}
		even := func(at float64) float64 { return at / total.Seconds() }
		if d := distance(at, even); d < critical(len(at)) {
			t.Errorf("%s: the test takes it for an even rate", rate)
		}
	}
}
