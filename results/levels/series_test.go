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
		runs[i].Warnings = []results.Warning{{Code: "cpu-client-bound", Text: "client-bound: the generator used 1.9 of 2 cores; the service may be faster than this"}}
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
	if got := resulttest.SweepOf(runs...).Curves[0].Limits; !slices.ContainsFunc(got, func(line string) bool { return strings.HasPrefix(line, "one lock is serial: 1/(") }) {
		t.Errorf("limited by %q, want the time that the lock is held and handed over", got)
	}
	for _, r := range runs {
		r.ServiceTimes("handoff").Mean *= 1000
	}
	for _, line := range resulttest.SweepOf(runs...).Curves[0].Limits {
		if strings.Contains(line, "serial") {
			t.Errorf("limited by %q, though a hand-off takes longer than a round", line)
		}
	}
}
