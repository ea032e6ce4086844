package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stampede-bench/stampede/results/stats"
)

// truth has its knee at 49, well within the levels.
var truth = stats.USL{Alpha: 0.03, Beta: 0.0004, Gamma: 4000}

// measured returns a law's throughput at 4, 8, …, 256, with noise as a share of it.
func measured(u stats.USL, noise float64, seed uint64) (levels []stats.Level) {
	random := rand.New(rand.NewPCG(seed, 1))
	for n := 4.0; n <= 256; n *= 2 {
		l := stats.Level{N: n}
		for range 3 {
			l.Values = append(l.Values, u.Value(n)*math.Exp(noise*random.NormFloat64()))
		}
		levels = append(levels, l)
	}
	return levels
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got/want-1) > tolerance {
		t.Errorf("%s is %v, want %v within %v", what, got, want, tolerance)
	}
}

func TestScaleFindsTheLaw(t *testing.T) {
	for _, want := range []stats.USL{truth, {Alpha: 0.3, Beta: 0.001, Gamma: 12}, {Alpha: 0.001, Beta: 0.00002, Gamma: 90_000}} {
		for noise, tolerance := range map[float64]float64{0: 1e-3, 0.01: 0.2} {
			levels := measured(want, noise, 5)
			got, err := stats.Scale(levels)
			if err != nil {
				t.Fatal(err)
			}
			if noise == 0 {
				near(t, "α", got.Alpha, want.Alpha, tolerance)
			}
			near(t, "β", got.Beta, want.Beta, tolerance)
			near(t, "γ", got.Gamma, want.Gamma, tolerance)
			near(t, "the knee", got.Knee(), want.Knee(), tolerance)
			if r2 := got.R2(levels); r2 < 0.99 {
				t.Errorf("R² is %v of data that follows the law", r2)
			}
		}
	}
}

// Where throughput only rises there is no knee, or it lies far beyond the levels.
func TestScaleWithoutAPeak(t *testing.T) {
	got, err := stats.Scale(measured(stats.USL{Alpha: 0.05, Gamma: 100}, 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	if got.Knee() < 2560 {
		t.Errorf("the knee is at %v, of a law that has none; %+v", got.Knee(), got)
	}
}

// Levels that all lie beyond the peak do not let α and γ diverge.
func TestScaleBeyondThePeak(t *testing.T) {
	levels := measured(stats.USL{Alpha: 0.9, Beta: 0.3, Gamma: 1000}, 0.02, 2)[2:]
	got, err := stats.Scale(levels)
	if err != nil {
		t.Fatal(err)
	}
	if k := got.Knee(); got.Alpha > 1 || k < 1 || k > 16 {
		t.Errorf("%+v with its knee at %v, of levels from 16 on that all fall", got, k)
	}
}

func TestScaleWantsFourLevels(t *testing.T) {
	if _, err := stats.Scale(measured(truth, 0, 1)[:3]); err == nil {
		t.Error("three levels are fitted by three parameters, and nothing is said")
	}
}
