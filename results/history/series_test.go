package history

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/results"
)

// result returns a result whose run has the throughput and the writes in 100 rounds.
func result(n int, rate float64, writes int64) results.File {
	at := time.Date(2026, 11, 1, 0, n, 0, 0, time.UTC)
	run := results.Run{Recipe: "lock", Form: "predecessor", Clients: 8, Backend: results.Backend{URL: "native:"}, Rounds: 100,
		ThroughputPerS: rate, Phases: []string{"acquire"}}
	run.Cost.WholeRounds, run.Cost.Whole.Writes = 100, writes
	run.Cost.Expected = &results.Expected{Identities: []results.Identity{{Fixes: "whole.writes_per_round", Holds: true}}}
	return results.File{Head: results.Head{ID: fmt.Sprint("r", n), Started: at, Host: results.Host{OS: "linux", CPU: "a", Cores: 2}}, Runs: []results.Run{run}}
}

// TestSeriesByMachine checks that results of two machines are two series.
func TestSeriesByMachine(t *testing.T) {
	c := Collection{Figures: []string{"rounds_per_s"}}
	for i := range 10 {
		f := result(i, 100, 200)
		f.Host.Cores = float64(2 + i%2)
		c.Add(f.ID, f)
	}
	if len(c.Series()) != 2 || len(c.Series()[0].Points) != 5 {
		t.Errorf("%d series, %d points in the first", len(c.Series()), len(c.Series()[0].Points))
	}
}

// TestCountChangesAtTheFirstDifference checks that one result with another count is a change, which needs
// no further results.
func TestCountChangesAtTheFirstDifference(t *testing.T) {
	c := Collection{Figures: []string{"whole.writes_per_round"}}
	for i := range 12 {
		writes := int64(200 + i%2) // the ends of the runs
		if i == 11 {
			writes = 210
		}
		c.Add(fmt.Sprint("r", i), result(i, 100, writes))
	}
	changes := c.Series()[0].Analyze()
	if len(changes) != 1 || changes[0].At != 11 || !c.Series()[0].worse(changes[0]) || !c.Series()[0].Exact {
		t.Errorf("changes %+v", changes)
	}
}

// TestStepOfARate checks that throughput that falls by 10 % is a change for the worse at its place.
func TestStepOfARate(t *testing.T) {
	c, random := Collection{Figures: []string{"rounds_per_s"}}, rand.New(rand.NewPCG(3, 4))
	for i := range 40 {
		rate := 1000 * (1 + 0.01*random.NormFloat64())
		if i >= 25 {
			rate *= 0.9
		}
		c.Add(fmt.Sprint("r", i), result(i, rate, 200))
	}
	s := c.Series()[0]
	changes := s.Analyze()
	if len(changes) != 1 || changes[0].At != 25 || changes[0].Drift() || !s.worse(changes[0]) || changes[0].Size > -0.08 || changes[0].Size < -0.12 {
		t.Errorf("changes %+v", changes)
	}
}

// TestNamesOfSeriesDiffer checks that series that differ in any condition have different names.
func TestNamesOfSeriesDiffer(t *testing.T) {
	for name, change := range map[string]func(*results.Run){
		"durability": func(r *results.Run) { r.Backend.Durability = "fsync" },
		"client":     func(r *results.Run) { r.Backend.Client = "curator" },
		"reads":      func(r *results.Run) { r.Backend.Reads = "sync" },
		"started":    func(r *results.Run) { r.Backend.Started = "own process" },
		"setting":    func(r *results.Run) { r.Settings = map[string]string{"hold": "1ms"} },
		"scenario":   func(r *results.Run) { r.Scenario = "paper" },
		"form":       func(r *results.Run) { r.Form = "one-node" },
		"url":        func(r *results.Run) { r.Backend.URL = "etcd:" },
		"clients":    func(r *results.Run) { r.Clients = 9 },
	} {
		c := Collection{Figures: []string{"rounds_per_s"}}
		one, other := result(1, 100, 200), result(2, 100, 200)
		for _, f := range []results.File{one, other} {
			f.Runs[0].Backend = results.Backend{URL: "native:", Durability: "memory", Client: "go-zookeeper", Reads: "local"}
			f.Runs[0].Settings = map[string]string{"hold": "0s"}
		}
		change(&other.Runs[0])
		c.Add("r1", one)
		c.Add("r2", other)
		if all := c.Series(); len(all) != 2 || all[0].Subject == all[1].Subject {
			t.Errorf("%s: %d series, the first of %q", name, len(all), all[0].Subject)
		}
	}
}

// TestStepsFromAndToZero checks that a figure with noise that leaves 0, or falls to 0, is a change.
func TestStepsFromAndToZero(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	noisy := func() float64 { return 400 * (1 + 0.05*random.NormFloat64()) }
	zero := func() float64 { return 0 }
	for name, c := range map[string]struct {
		before, after func() float64
		size          float64
	}{"from 0": {zero, noisy, math.Inf(1)}, "to 0": {noisy, zero, -1}, "always 0": {zero, zero, 0}} {
		t.Run(name, func(t *testing.T) {
			all := Collection{Figures: []string{"rounds_per_s"}}
			for i := range 24 {
				rate := c.before()
				if i >= 12 {
					rate = c.after()
				}
				all.Add(fmt.Sprint("r", i), result(i, rate, 200))
			}
			changes := all.Series()[0].Analyze()
			if c.size == 0 {
				if changes != nil {
					t.Errorf("changes %+v", changes)
				}
			} else if len(changes) != 1 || changes[0].At < 11 || changes[0].At > 12 || changes[0].Size != c.size && math.Abs(changes[0].Size-c.size) > 0.01 {
				t.Errorf("changes %+v, want one at 11 or 12 of size %v", changes, c.size)
			}
		})
	}
}

// TestVoidRunsAreLeftOut checks that results with safety violations and interrupted ones are left out, and counted.
func TestVoidRunsAreLeftOut(t *testing.T) {
	var c Collection
	unsafe, partial := result(1, 100, 200), result(2, 100, 200)
	unsafe.Runs[0].Safety.Violations, partial.Interrupted = 1, true
	for _, f := range []results.File{unsafe, partial} {
		c.Add(f.ID, f)
	}
	want := results.LeftOut{Unsafe: 1, Interrupted: 1}
	for _, s := range c.Series() {
		if len(s.Points) > 0 || s.LeftOut != want {
			t.Errorf("%s: %d points, left out %+v", s.Figure.Name, len(s.Points), s.LeftOut)
		}
	}
	if h := c.History(); h.Verdict != results.Invalid || len(h.Figures) == 0 || h.Figures[0].LeftOut != want {
		t.Errorf("%d figures, %s", len(h.Figures), h.Verdict)
	}
}

// TestASettingThatOlderResultsLack checks that a setting that is off continues the series of results that do not
// record it, and that one with a value has a series of its own, which its name says.
func TestASettingThatOlderResultsLack(t *testing.T) {
	for value, want := range map[string][]string{
		"": {""}, "0": {""}, "0s": {""}, "false": {""}, "5": {", newsetting not recorded", ", newsetting 5"},
	} {
		c := Collection{Figures: []string{"rounds_per_s"}}
		older, newer := result(1, 100, 200), result(2, 150, 200)
		older.Runs[0].Settings = map[string]string{"hold": "1ms"}
		newer.Runs[0].Settings = map[string]string{"hold": "1ms", "newsetting": value}
		c.Add("r1", older)
		c.Add("r2", newer)
		all := c.Series()
		if len(all) != len(want) {
			t.Errorf("%q: %d series, want %d", value, len(all), len(want))
			continue
		}
		for i, s := range all {
			if !strings.HasSuffix(s.Subject, "clients"+want[i]) {
				t.Errorf("%q: the subject %q, want %q at its end", value, s.Subject, want[i])
			}
		}
		differs := results.Differences(older.Runs, newer.Runs)
		if (len(differs) > 0) != (len(want) > 1) {
			t.Errorf("%q: differences %+v", value, differs)
		}
	}
}

// TestTheNewestChangeDecides checks the levels around a change, and that only the newest change of a figure counts
// as a regression.
func TestTheNewestChangeDecides(t *testing.T) {
	c := Collection{Figures: []string{"whole.writes_per_round"}}
	for i, writes := range []int64{200, 200, 200, 200, 200, 300, 300, 300, 300} {
		c.Add(fmt.Sprint("r", i), result(i, 100, writes))
	}
	h := c.History()
	half := 0.5
	want := []results.TrendChange{{At: 5, To: 5, Seen: 6, Before: 2, After: 3, Size: &half, Verdict: results.Regression}}
	if diff := cmp.Diff(want, h.Figures[0].Changes); diff != "" || h.Verdict != results.Regression || h.Results != 9 {
		t.Errorf("verdict %s of %d results, changes (-want +got):\n%s", h.Verdict, h.Results, diff)
	}
	c.Add("r9", result(9, 100, 200))
	if h := c.History(); h.Verdict != results.Improvement || h.Figures[0].Newest().Before != 3 {
		t.Errorf("verdict %s, newest change %+v", h.Verdict, h.Figures[0].Newest())
	}
}

// TestLevelsOfADrift checks where a drift begins and ends, and that the step after it begins there.
func TestLevelsOfADrift(t *testing.T) {
	c := Collection{Figures: []string{"rounds_per_s"}}
	for i := range 60 {
		rate := 1000 * (1 + 0.002*float64(i*7%11-5))
		rate *= 1 + 0.006*float64(max(i-10, 0))
		c.Add(fmt.Sprint("r", i), result(i, rate, 200))
	}
	changes := c.History().Figures[0].Changes
	if len(changes) == 0 || !changes[0].Drift || changes[0].Before < 980 || changes[0].Before > 1020 {
		t.Fatalf("changes %+v", changes)
	}
	last := changes[len(changes)-1]
	if last.Verdict != results.Improvement || last.After < 1250 || last.After > 1340 {
		t.Errorf("it ends at %+v", last)
	}
	for i := 1; i < len(changes); i++ {
		if changes[i].At <= changes[i-1].To {
			t.Errorf("change %d begins before the end of the one before it: %+v", i, changes)
		}
	}
}

// TestTooFewResults says how many results a figure that has noise needs; a count needs no more.
func TestTooFewResults(t *testing.T) {
	c := Collection{Figures: []string{"rounds_per_s", "whole.writes_per_round"}}
	c.Add("r0", result(0, 100, 200))
	h := c.History()
	if h.Verdict != results.Pass || h.Figures[0].Needed != 10 || h.Figures[1].Needed != 0 || h.Figures[0].Changes == nil {
		t.Errorf("%+v", h)
	}
	if none := (&Collection{}).History(); none.Verdict != "" || none.Figures == nil {
		t.Errorf("an empty history is %+v", none)
	}
}
