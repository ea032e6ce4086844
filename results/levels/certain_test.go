package levels_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// doubted adds to the runs of the family, "" for all, that other programs took a share of the time, which is not known if
// it is 0.
func doubted(runs []results.Run, family string, share float64) []results.Run {
	runs = slices.Clone(runs)
	for i := range runs {
		if family != "" && runs[i].Family != family {
			continue
		}
		w := results.Warning{Code: metrics.Others, Text: "other programs"}
		if share > 0 {
			w.Numbers = map[string]float64{metrics.LostShare: share}
		}
		runs[i].Doubts, runs[i].Warnings = []results.Warning{w}, []results.Warning{w}
	}
	return runs
}

func TestRatioWithinDoubts(t *testing.T) {
	both := resulttest.HerdRuns()[:2] // recipe, naive
	for _, c := range []struct {
		naive, calm float64 // shares, −1 without a doubt
		least, most float64
	}{
		{-1, -1, 4, 4},
		{0.5, -1, 2, 4},
		{-1, 0.5, 4, 8},
		{0.25, 0.5, 3, 8},
		{0, -1, 0, 4},
		{-1, 0, 4, math.Inf(1)},
		{0.001, -1, 4, 4}, // negligible
	} {
		naive, calm := both[1:], both[:1]
		if c.naive >= 0 {
			naive = doubted(naive, "", c.naive)
		}
		if c.calm >= 0 {
			calm = doubted(calm, "", c.calm)
		}
		r := levels.RatioWithin(results.Estimate{Value: 4}, levels.TimeOf(naive[0], "handoff", "p90"), naive, calm)
		room := c.least != 4 || c.most != 4
		if math.Abs(r.Least-c.least) > 1e-6 || r.Most != c.most && math.Abs(r.Most-c.most) > 1e-6 || (r.Doubt != "") != room {
			t.Errorf("%+v: from %v to %v, %q", c, r.Least, r.Most, r.Doubt)
		}
	}
	e := results.Estimate{Value: 4, Low: 3, High: 5, Confidence: 0.97}
	if r := levels.RatioWithin(e, levels.Speed(), both, both); r.Least != 3 || r.Most != 5 || r.Undecided() {
		t.Errorf("with an interval: %+v", r)
	}
}

// The hand-off of the naive form takes (80 + 20·N)/100 as long as that of the recipe: twice as long at 6 clients. A doubt
// leaves a part of that.
func TestCrossoverWithinDoubts(t *testing.T) {
	for _, c := range []struct {
		name    string
		family  string
		share   float64
		worseBy float64
		at      float64 // 0 if it is not certain of any
		most    bool    // the last ratio has an upper bound
	}{
		{"half of the naive form's time", "naive", 0.5, 2, 16, true},
		{"half of the recipe's time, which may be shorter yet", "recipe", 0.5, 2, 6, true},
		{"half of both", "", 0.5, 2, 16, true},
		{"of no known size", "naive", 0, 2, 0, true},
		{"of no known size in the recipe", "recipe", 0, 2, 6, false},
		{"that leaves no such factor", "naive", 0.5, 20, 0, true},
	} {
		s := resulttest.SweepOf(doubted(resulttest.HerdRuns(), c.family, c.share)...)
		s.WorseBy = c.worseBy
		levels.Analyse(&s)
		x := s.Crossovers[0]
		last := x.Ratios[len(x.Ratios)-1]
		if (x.At != nil) != (c.at > 0) || x.At != nil && math.Abs(*x.At/c.at-1) > 0.15 || x.Doubt != "other programs" || (last.Most > 0) != c.most {
			t.Errorf("%s: %+v", c.name, x)
		}
		if last.Least > last.Times || last.Most > 0 && last.Most < last.Times {
			t.Errorf("%s: %+v", c.name, last)
		}
	}
	if x := resulttest.SweepOf(resulttest.HerdRuns()...).Crossovers[0]; x.Doubt != "" || x.Ratios[0].Least != 0 || x.Ratios[0].Most != 0 {
		t.Errorf("without a doubt: %+v", x)
	}
}

// A peak of rates that may have been higher is shown with the range that the doubts leave. Its end is not known if the
// fall beyond it may be one of the measurement.
func TestPeakWithinDoubts(t *testing.T) {
	calm := resulttest.SweepOf(resulttest.ScalingRuns()...).Curves[0].USL
	for _, c := range []struct {
		share         float64 // of the time that other programs took; 0: not known
		doubt, ending bool
	}{{0.001, false, true}, {0.02, true, true}, {0.6, true, false}, {0, true, false}} {
		u := resulttest.SweepOf(doubted(resulttest.ScalingRuns(), "", c.share)...).Curves[0].USL
		switch {
		case u == nil || u.Knee == nil || *u.Knee != *calm.Knee || u.KneeLow == nil || (u.Doubt != "") != c.doubt || (u.KneeHigh != nil) != c.ending:
			t.Errorf("%v: %+v", c.share, u)
		case c.doubt && *u.KneeLow >= *calm.KneeLow, c.doubt && c.ending && *u.KneeHigh <= *calm.KneeHigh:
			t.Errorf("%v: from %v to %v, without the doubt from %v to %v", c.share, *u.KneeLow, u.KneeHigh, *calm.KneeLow, *calm.KneeHigh)
		}
	}
}

// What other programs took is no limit of a form.
func TestOtherProgramsAreNoLimit(t *testing.T) {
	for code, want := range map[string]string{
		metrics.Others: "not known: why", metrics.Stolen: "not known: why", metrics.Starved: "not known: why",
		metrics.ClientBound: "the processors: why", metrics.Shared: "the processors: why", metrics.Behind: "not known",
	} {
		runs := slices.DeleteFunc(resulttest.ScalingRuns(), func(r results.Run) bool { return r.Family == "naive" })
		for i := range runs {
			runs[i].Recipe, runs[i].Warnings = "barrier", []results.Warning{{Code: code, Text: "why"}} // a lock is serial
		}
		if got := resulttest.SweepOf(runs...).Curves[0].Limits; !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %q, want %q", code, got, want)
		}
	}
}

// It is said that a form falls behind where the run warns of it, and in no other case: an arrival that failed was not late.
// Of repetitions, half decide. Nor is it said where a doubt can explain it.
func TestPace(t *testing.T) {
	r := results.Run{Loop: "open", OfferedPerS: 100, ThroughputPerS: 99, Rounds: 297, DurationNS: 3e9, Generator: results.Generator{Offered: 300, Failed: 3}}
	slow := r
	slow.Warnings = []results.Warning{{Code: metrics.Behind}}
	for name, c := range map[string]struct {
		runs []results.Run
		want string
	}{
		"failed": {[]results.Run{r}, "keeps up"}, "warned": {[]results.Run{slow}, "falls behind"},
		"one of three": {[]results.Run{slow, r, r}, "keeps up"}, "two of three": {[]results.Run{r, slow, slow}, "falls behind"},
	} {
		for i := range c.runs {
			c.runs[i].Repetition = i + 1
		}
		if line := levels.Pace(c.runs[0], c.runs); !strings.HasSuffix(line, c.want) {
			t.Errorf("%s: %q", name, line)
		}
	}
	gone := slow
	gone.Doubts = []results.Warning{{Code: metrics.ServiceLost}}
	if line := levels.Pace(gone, []results.Run{gone}); !strings.HasSuffix(line, "clients, until the service was gone") {
		t.Errorf("without its service: %q", line)
	}
	slow.ThroughputPerS = 80
	for share, want := range map[float64]string{0.1: "does 80.0/s and falls behind", 0.25: "does 80.0/s and may keep up (other programs)"} {
		runs := doubted([]results.Run{slow}, "", share)
		runs[0].Warnings = slow.Warnings
		if line := levels.Pace(runs[0], runs); !strings.HasSuffix(line, want) {
			t.Errorf("%v: %q, want %q", share, line, want)
		}
	}
}
