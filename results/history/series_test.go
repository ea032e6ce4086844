package history

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/metrics"
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
	want := results.LeftOut{Unsafe: 1, Interrupted: 1, NewestLeftOut: 2}
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

// TestTooFewResults says how many results a figure that has noise needs; a count needs no more. With fewer it is not known
// whether it changed.
func TestTooFewResults(t *testing.T) {
	c := Collection{Figures: []string{"rounds_per_s", "whole.writes_per_round"}}
	c.Add("r0", result(0, 100, 200))
	h := c.History()
	if h.Verdict != results.Inconclusive || h.Figures[0].Needed != 10 || h.Figures[1].Needed != 0 || h.Figures[0].Changes == nil {
		t.Errorf("%+v", h)
	}
	if none := (&Collection{}).History(); none.Verdict != "" || none.Figures == nil {
		t.Errorf("an empty history is %+v", none)
	}
}

// TestNewestResultsThatAreLeftOut checks that a figure cannot be judged if its newest result is left out for whatever
// reason, that it can be again with the next one that counts, and that a regression before stays one.
func TestNewestResultsThatAreLeftOut(t *testing.T) {
	for name, void := range map[string]func(*results.File){
		"doubtful":    func(f *results.File) { f.Runs[0].Doubts = []results.Warning{{Code: metrics.AgentLost}} },
		"unsafe":      func(f *results.File) { f.Runs[0].Safety.Violations = 1 },
		"interrupted": func(f *results.File) { f.Interrupted = true },
		"unknown":     func(f *results.File) { f.Runs[0].Cost.WholeRounds, f.Runs[0].Latency = 0, nil },
	} {
		t.Run(name, func(t *testing.T) {
			for _, figure := range []string{"whole.writes_per_round", "acquire.response.p99"} {
				c := Collection{Figures: []string{figure}}
				add := func(n int, writes int64, void func(*results.File)) results.Verdict {
					f := result(n, 100, writes)
					p99 := 1_000_000 + int64(n%3)
					f.Runs[0].Latency = map[string]results.Latency{"acquire": {Count: 10_000, Response: &results.Distribution{P99: &p99}}}
					void(&f)
					c.Add(f.ID, f)
					return c.History().Verdict
				}
				good := func(*results.File) {}
				for i := range 12 {
					add(i, 200, good)
				}
				if v := add(12, 200, void); v != results.Invalid {
					t.Errorf("%s: %s with a newest result that is left out, want invalid", figure, v)
				}
				if v := add(13, 200, good); v != results.Pass {
					t.Errorf("%s: %s with one more result, want a pass", figure, v)
				}
				if figure != "whole.writes_per_round" {
					continue
				}
				add(14, 300, good)
				if v := add(15, 300, void); v != results.Regression {
					t.Errorf("%s after a regression, want a regression", v)
				}
			}
		})
	}
}

// open returns the result of a service that is asked for 2,000 reads, of which it serves some.
func open(n int, served int64) results.File {
	f := result(n, float64(served)/10, 200)
	r, lost := &f.Runs[0], 2000-served
	r.DurationNS = 10 * time.Second
	r.Rounds, r.Phases, r.OfferedPerS = served, []string{"read"}, 200
	r.Generator = results.Generator{Offered: 2000, Completed: served, Skipped: lost}
	p50, p99 := 10_000_000+int64(n%5)*100_000, 30_000_000+int64(n%5)*300_000
	d := &results.Distribution{P50: &p50, P99: &p99, Lost: lost}
	if lost > 20 {
		d.P99 = nil
	}
	if lost > 1000 {
		d.P50 = nil
	}
	if served == 0 {
		d = nil
	}
	if lost > 0 {
		r.Doubts = []results.Warning{{Code: metrics.Skipped}}
	}
	r.Latency = map[string]results.Latency{"read": {Count: served, Response: d}}
	return f
}

// TestWhatIsNotServedDoesNotVanish checks that results of a service that serves less than it is asked for are worse, and
// not left out: the worse the service, the fewer of its figures would count.
func TestWhatIsNotServedDoesNotVanish(t *testing.T) {
	for served, infinite := range map[int64]map[string]bool{
		1600: {"read.response.p99": true}, 900: {"read.response.p50": true, "read.response.p99": true}, 0: {"read.response.p50": true, "read.response.p99": true},
	} {
		c := Collection{Figures: []string{"rounds_per_s", "read.response.p50", "read.response.p99"}}
		for i := range 20 {
			all := 2000 - int64(i%4)
			if i >= 12 {
				all = served - min(served, int64(i%4))
			}
			c.Add("", open(i, all))
		}
		h := c.History()
		if _, err := json.Marshal(h); err != nil {
			t.Fatal(err)
		}
		for _, f := range h.Figures {
			newest := f.Newest()
			if len(f.Points) != 20 {
				t.Errorf("%d served: %s has %d points, want 20", served, f.Figure, len(f.Points))
			}
			if infinite[f.Figure] || f.Figure == "rounds_per_s" {
				if newest == nil || newest.Verdict != results.Regression || newest.At != 12 || newest.AfterInfinite != infinite[f.Figure] || newest.BeforeInfinite {
					t.Errorf("%d served: %s: %+v, want a regression at 12", served, f.Figure, newest)
				}
			} else if newest != nil {
				t.Errorf("%d served: %s: %+v, want no change", served, f.Figure, newest)
			}
		}
		for i := 20; i < 32; i++ {
			c.Add("", open(i, 2000))
		}
		if h := c.History(); h.Verdict != results.Improvement {
			t.Errorf("%d served, and all again: %s, want an improvement", served, h.Verdict)
		}
	}
}

// TestOtherDoubtsOfRatesStay checks that work that was not done puts no rate in doubt, in a closed loop either, and that
// a generator short of processor time does.
func TestOtherDoubtsOfRatesStay(t *testing.T) {
	for _, c := range []struct {
		code string
		open bool
		want int // of two results
	}{{metrics.Skipped, true, 2}, {metrics.Unfinished, true, 2}, {metrics.Unfinished, false, 2}, {metrics.ClientBound, true, 1}} {
		all := Collection{Figures: []string{"rounds_per_s"}}
		all.Add("", open(0, 2000))
		f := open(1, 1000)
		if f.Runs[0].Doubts = []results.Warning{{Code: c.code}}; !c.open {
			f.Runs[0].Generator.Offered = 0
		}
		all.Add("", f)
		if n := len(all.Series()[0].Points); n != c.want {
			t.Errorf("%+v: %d points", c, n)
		}
	}
}

// TestDoubtfulResultsCountWhereTheyMust checks that the newest change stands although its results are doubtful, if no doubt
// can explain it, in either direction, and with results after it that are not. Doubtful results that show no such
// change are left out, and a figure whose newest results they are cannot be judged.
func TestDoubtfulResultsCountWhereTheyMust(t *testing.T) {
	type part struct {
		results  int
		rate     float64
		doubtful float64 // the share of the time that a doubt is worth, 1 if anything can be
	}
	const worse, better, invalid = results.Regression, results.Improvement, results.Invalid
	for name, c := range map[string]struct {
		parts        []part
		want         results.Verdict
		at, left     int // of the newest change, and the results left out
		newestIsLeft int
	}{
		"worse":                          {[]part{{20, 1000, 0}, {10, 800, 0.04}}, worse, 20, 0, 0},
		"better":                         {[]part{{20, 1000, 0}, {10, 1250, 0.04}}, better, 20, 0, 0},
		"better, as it is at least":      {[]part{{20, 1000, 0}, {10, 1250, 1}}, better, 20, 0, 0},
		"worse by less than the doubt":   {[]part{{20, 1000, 0}, {10, 800, 0.3}}, invalid, -1, 10, 10},
		"worse or not":                   {[]part{{20, 1000, 0}, {10, 800, 1}}, invalid, -1, 10, 10},
		"as before":                      {[]part{{20, 1000, 0}, {10, 1000, 0.04}}, invalid, -1, 10, 10},
		"too few":                        {[]part{{20, 1000, 0}, {2, 800, 0.04}}, invalid, -1, 2, 2},
		"few results without a doubt":    {[]part{{20, 1000, 0}, {10, 800, 0.04}, {1, 800, 0}}, worse, 20, 0, 0},
		"enough results without a doubt": {[]part{{20, 1000, 0}, {10, 800, 0.04}, {10, 800, 0}}, worse, 20, 10, 0},
		"back":                           {[]part{{20, 1000, 0}, {10, 800, 0.04}, {10, 1000, 0}}, results.Pass, -1, 10, 0},
		"nothing new":                    {[]part{{20, 1000, 0}, {10, 1250, 0}, {10, 1250, 0.04}}, invalid, 20, 10, 10},
		"worse than a doubtful past":     {[]part{{10, 1000, 0.04}, {20, 800, 0}}, results.Pass, -1, 10, 0},
	} {
		all, random := Collection{Figures: []string{"rounds_per_s"}}, rand.New(rand.NewPCG(3, 4))
		for _, p := range c.parts {
			for range p.results {
				f := result(all.results, p.rate*(1+0.01*random.NormFloat64()), 200)
				if f.Runs[0].DurationNS = time.Second; p.doubtful > 0 {
					f.Runs[0].Doubts = []results.Warning{{Code: metrics.Others, Numbers: metrics.Numbers{metrics.LostShare: p.doubtful}}}
				}
				all.Add(f.ID, f)
			}
		}
		h := all.History()
		trend, at := h.Figures[0], -1
		if newest := trend.Newest(); newest != nil {
			at = newest.At
		}
		if h.Verdict != c.want || at != c.at || trend.Doubtful != c.left || trend.NewestLeftOut != c.newestIsLeft || len(trend.Points) != all.results-c.left {
			t.Errorf("%s: %s, change at %d of %d, left out %d, newest %d; want %+v", name, h.Verdict, at, len(trend.Points), trend.Doubtful, trend.NewestLeftOut, c)
		}
	}
}
