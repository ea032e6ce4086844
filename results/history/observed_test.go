package history

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/metrics/observation"
	"github.com/stampede-bench/stampede/results"
)

// counted returns a result of stampede count.
func counted(n int, reads int64) results.CountReport {
	return results.CountReport{Head: results.Head{Started: time.Date(2026, 11, 1, 0, n, 0, 0, time.UTC), Host: results.Host{Cores: float64(2 + n%2)}}, Settled: []results.Settled{
		{Recipe: "lock", Form: "one-node", Clients: 8, Backend: results.Backend{URL: "native:"}, Parameters: map[string]int64{"q": 1},
			Reads: results.Exact{Counted: reads, Expected: new(int64(28))}},
		{Recipe: "lock", Form: "unsafe", Clients: 8, Safety: results.Safety{Violations: 1}},
	}}
}

// TestCountsAreFollowed checks that a count of another result is a change at once, on whatever machine.
func TestCountsAreFollowed(t *testing.T) {
	for _, c := range []struct {
		figures []string
		series  int
	}{{nil, 10}, {[]string{"count.reads"}, 2}, {[]string{"rounds_per_s", "count.reads"}, 2}, {[]string{"rounds_per_s"}, 0}} {
		all := Collection{Figures: c.figures}
		for i, reads := range []int64{28, 28, 29, 29} {
			all.Add(fmt.Sprint("c", i), counted(i, reads))
		}
		if len(all.Series()) != c.series {
			t.Errorf("%v: %d series, want %d", c.figures, len(all.Series()), c.series)
		}
		for _, s := range all.Series() {
			if void := strings.Contains(s.Subject, "unsafe"); void != (s.Unsafe == 4) || void != (len(s.Points) == 0) {
				t.Errorf("%s: %d unsafe results, %d points", s.Subject, s.Unsafe, len(s.Points))
			}
			if s.Figure.Name != "count.reads" || s.Unsafe > 0 {
				continue
			}
			if changes := s.Analyze(); s.Subject != "count: lock/one-node on native:, 8 clients, q = 1" || len(changes) != 1 || changes[0].At != 2 || !s.worse(changes[0]) {
				t.Errorf("%s: changes %+v", s.Subject, changes)
			}
		}
	}
}

// TestKindsHaveSeriesOfTheirOwn checks that the runs of a sweep are not in the series of runs, that both
// leave out the figures of counts, and that a comparison has no figures.
func TestKindsHaveSeriesOfTheirOwn(t *testing.T) {
	all := Collection{Figures: []string{"rounds_per_s", "count.reads"}}
	for i, r := range []results.Result{result(0, 100, 200), results.Sweep{File: result(1, 50, 200)}, result(2, 100, 200), results.Comparison{}} {
		all.Add(fmt.Sprint("r", i), r)
	}
	got := map[string]int{}
	for _, s := range all.Series() {
		got[s.Subject] = len(s.Points)
	}
	if diff := cmp.Diff(map[string]int{"lock/predecessor on native:, 8 clients": 2, "sweep: lock/predecessor on native:, 8 clients": 1}, got); diff != "" {
		t.Error(diff)
	}
}

// TestObservationsAreFollowed checks that each path that changed, and all together, are followed on all
// machines together, and that an observation without wake-ups has no share of wasted ones. Counts of
// observations have noise: one that differs is no change. Observations with traffic that was not analysed
// are left out.
func TestObservationsAreFollowed(t *testing.T) {
	var all Collection
	for i, most := range []int64{3, 3, 8, 5} {
		program, wasted, useful := "go", int64(1), int64(3)
		o := results.Observation{Head: results.Head{Started: time.Date(2026, 11, 1, 0, i, 0, 0, time.UTC), Host: results.Host{Cores: float64(i)}}, Backend: "native:", Program: &program, Observed: observation.Report{
			Traffic: observation.Traffic{FanoutMax: most},
			Places: []observation.Place{
				{Path: "/locks/*", Changes: 10, FanoutMax: most, Notifications: 20, Wasted: &wasted, Useful: &useful},
				{Path: "/config", Changes: 2, FanoutMax: 1, Notifications: 2},
				{Path: "/quiet"},
			}}}
		if i == 3 {
			o.Observed.Traffic.Undecoded = []traffic.Undecoded{{Cause: traffic.Late, Bytes: 100}}
		}
		all.Add(fmt.Sprint("o", i), o)
	}
	got := map[string]float64{}
	for _, s := range all.Series() {
		got[s.Subject+": "+s.Figure.Name] = s.Points[2].Value
		if trend := s.Trend(); len(trend.Points) != 3 || trend.Doubtful != 1 || trend.Machine != "any machine" || trend.Exact || trend.Newest() != nil {
			t.Errorf("%s of %s: %+v", s.Figure.Name, s.Subject, trend)
		}
	}
	want := map[string]float64{
		"observe go on native:, all paths: fanout.max": 8,
		"observe go on native:, /locks/*: fanout.max":  8, "observe go on native:, /locks/*: notifications_per_change": 2,
		"observe go on native:, /locks/*: wasted":    0.25,
		"observe go on native:, /config: fanout.max": 1, "observe go on native:, /config: notifications_per_change": 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestDoubtfulResultsAloneAreInvalid checks that figures whose results are all doubtful are shown, without
// points, and that a history with one of them is invalid.
func TestDoubtfulResultsAloneAreInvalid(t *testing.T) {
	for figure, want := range map[string]results.Verdict{"rounds_per_s": results.Invalid, "whole.writes_per_round": results.Invalid} {
		c := Collection{Figures: []string{"rounds_per_s", figure}}
		for i := range 2 {
			f := result(i, 100, 200)
			f.Runs[0].Doubts = []results.Warning{{Code: metrics.Stolen}}
			c.Add(f.ID, f)
		}
		h := c.History()
		if h.Verdict != want {
			t.Errorf("%s: %s, want %s", figure, h.Verdict, want)
		}
		if first := h.Figures[0]; first.Figure != "rounds_per_s" || len(first.Points) != 0 || first.Doubtful == 0 {
			t.Errorf("%s: %+v", figure, first)
		}
	}
}

// TestSettingsAreSeriesOfTheirOwn checks that runs that differ in any setting are in different series, whose
// subjects name the setting, and that doubtful runs are left out.
func TestSettingsAreSeriesOfTheirOwn(t *testing.T) {
	c := Collection{Figures: []string{"rounds_per_s"}}
	for i, inFlight := range []string{"4", "1", "4", "1"} {
		f := result(i, 100, 200)
		f.Runs[0].Settings = map[string]string{"in-flight": inFlight, "hold": "1ms"}
		if i == 3 {
			f.Runs[0].Doubts = []results.Warning{{Code: metrics.Stolen}}
		}
		c.Add(f.ID, f)
	}
	var got []string
	for _, s := range c.Series() {
		got = append(got, fmt.Sprintf("%s: %d results, %d doubtful", s.Subject, len(s.Points), s.Doubtful))
	}
	want := []string{"lock/predecessor on native:, 8 clients, in-flight 4: 2 results, 0 doubtful",
		"lock/predecessor on native:, 8 clients, in-flight 1: 1 results, 1 doubtful"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
