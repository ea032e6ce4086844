package levels_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/resulttest"
)

func TestSeriesOfASweep(t *testing.T) {
	var got []string
	for _, s := range levels.SeriesOf(resulttest.SweepOf(resulttest.HerdRuns()...)) {
		if len(s.Levels) != 7 || s.Curve == nil || s.Curve.Form != s.Levels[0].Form {
			t.Errorf("%s: %d levels, curve %v; want 7 and that of the form", s.Name, len(s.Levels), s.Curve)
		}
		got = append(got, s.Name)
	}
	if diff := cmp.Diff([]string{"predecessor", "one-node"}, got); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
}

// A busy generator is reported as a limit; if nothing explains the throughput, the limit is not known.
func TestLimits(t *testing.T) {
	runs := resulttest.HerdRuns()
	for i := range runs {
		runs[i].Warnings = []results.Warning{{Code: "cpu-client-bound", Text: "client-bound: the generator used 1.9 of 2 cores; the service may be faster"}}
	}
	s := resulttest.SweepOf(runs...)
	if got := s.Curves[0].Limits[0]; !strings.HasPrefix(got, "the processors: client-bound: the generator used 1.9") {
		t.Errorf("limited by %q", got)
	}
	for i := range runs {
		runs[i].Warnings, runs[i].Recipe = nil, "queue"
	}
	s = resulttest.SweepOf(runs...)
	if got := s.Curves[0].Limits; len(got) != 1 || got[0] != "not known" {
		t.Errorf("limited by %q", got)
	}
}

// Medians over runs of throughput and of the hand-off come from different runs. If a hand-off then takes
// longer than a round, they give no time for which the lock was held.
func TestSerialLimit(t *testing.T) {
	runs := resulttest.HerdRuns()
	if got := resulttest.SweepOf(runs...).Curves[0].Limits; !slices.ContainsFunc(got, func(line string) bool { return strings.HasPrefix(line, "one holder at a time: 1/(") }) {
		t.Errorf("limited by %q, want the time that the lock is held and handed over", got)
	}
	for _, r := range runs {
		r.ServiceTimes("handoff").Mean *= 1000
	}
	for _, line := range resulttest.SweepOf(runs...).Curves[0].Limits {
		if strings.Contains(line, "one holder at a time") {
			t.Errorf("limited by %q, though a hand-off takes longer than a round", line)
		}
	}
}

// Two levels that a search tries are told apart, whatever their distance.
func TestPlacesOfRates(t *testing.T) {
	for rate, want := range map[float64]string{
		16.5: "16.5 arrivals/s", 16.8: "16.8 arrivals/s", 17: "17 arrivals/s",
		0.125: "0.125 arrivals/s", 12_600: "12\u202f600 arrivals/s",
	} {
		if got := levels.Place("rate", rate); got != want {
			t.Errorf("%v: %q, want %q", rate, got, want)
		}
	}
}
