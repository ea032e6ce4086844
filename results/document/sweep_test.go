package document_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/render"
	"github.com/stampede-bench/stampede/results/resulttest"
	"github.com/stampede-bench/stampede/results/stats"
)

// The golden files are what people see; read one before you accept a new version.
func TestSweepTable(t *testing.T) {
	for name, made := range map[string]func() results.Sweep{
		"herd":      func() results.Sweep { return resulttest.SweepOf(resulttest.HerdRuns()...) },
		"scaling":   func() results.Sweep { return resulttest.SweepOf(resulttest.ScalingRuns()...) },
		"search":    resulttest.Searched,
		"undecided": resulttest.Undecided,
		"interrupted": func() results.Sweep {
			s := resulttest.SweepOf(resulttest.HerdRuns()[:9]...)
			s.Interrupted, s.Planned, s.State = true, 42, "20261121-0931-lock.sweep.json"
			return s
		},
		"nothing": func() results.Sweep {
			s := resulttest.SweepOf()
			s.Interrupted = true
			return s
		},
		"reads":          func() results.Sweep { return resulttest.MixSweep(resulttest.MixedReads(1000), "reads") },
		"reads and size": func() results.Sweep { return resulttest.MixSweep(resulttest.MixedReads(100, 1000), "reads", "size") },
		"two axes": func() results.Sweep {
			var runs []results.Run
			for _, hold := range []time.Duration{1, 8} {
				for _, r := range resulttest.HerdRuns() {
					r.HoldNS = hold * time.Millisecond
					if r.Settings = map[string]string{"hold": r.HoldNS.String()}; r.Clients <= 16 {
						runs = append(runs, r)
					}
				}
			}
			s := resulttest.SweepOf(runs...)
			s.Axes = []string{"clients", "hold"}
			levels.Analyse(&s)
			return s
		},
	} {
		t.Run(name, func(t *testing.T) {
			wantText(t, made(), render.Options{}, "sweep-"+strings.ReplaceAll(name, " ", "-")+".txt")
		})
	}
}

// Crossovers are at integer numbers of clients, with the same number in every group.
func TestCrossoverIsOfWholeClients(t *testing.T) {
	s := resulttest.SweepOf(resulttest.HerdRuns()...)
	at := 9.7
	s.Crossovers[0].At = &at
	if line := document.New(s).Findings[0]; !strings.HasPrefix(line, "From 10 clients on the naive form's") {
		t.Error(line)
	}
	at = 38.2
	for i := range s.Levels {
		s.Levels[i].Groups = 16
	}
	if line := document.New(s).Findings[0]; !strings.HasPrefix(line, "From 48 clients on, 3 for each of 16 locks, the naive form's") {
		t.Error(line)
	}
	s.Axes, at = []string{"rate"}, 9.7
	if line := document.New(s).Findings[0]; !strings.HasPrefix(line, "From 9.7 arrivals/s on the naive form's") {
		t.Error(line)
	}
}

// The analysis finds the parameters that the samples were made with.
func TestSweepFindsWhatIsThere(t *testing.T) {
	s := resulttest.SweepOf(resulttest.HerdRuns()...)
	if len(s.Crossovers) != 1 || s.Crossovers[0].Metric != "handoff.p99" {
		t.Fatalf("%+v: want one crossover, by the hand-off's p99", s.Crossovers)
	}
	if one := resulttest.SweepOf(resulttest.HerdRuns()[:2]...); !strings.HasPrefix(document.New(one).Findings[0], "At 2 clients, the one level of both, ") {
		t.Errorf("of one level it says %q", document.New(one).Findings)
	}
	// 80 + 20·N is twice 100 at 6.
	if at := s.Crossovers[0].At; at == nil || *at < 5 || *at > 7 {
		t.Errorf("the crossover is at %v, want about 6", at)
	}
	naive := s.Curves[1]
	if g := naive.Growth["notifications"]; naive.Form != "one-node" || g.Low < 0.9 || !strings.HasPrefix(naive.Limits[0], "the herd") {
		t.Errorf("%s grows as %+v, and is limited by %q", naive.Form, g, naive.Limits)
	}
	if naive.USL != nil || !strings.Contains(naive.NoUSL, "serial") {
		t.Errorf("one lock is fitted: %+v, %q", naive.USL, naive.NoUSL)
	}

	s = resulttest.SweepOf(resulttest.ScalingRuns()...)
	calm, level := s.Curves[0].USL, s.Curves[1].USL
	if calm == nil || calm.Knee == nil || *calm.KneeLow > 49.3 || *calm.KneeHigh < 49.2 || *calm.KneeHigh > 60 {
		t.Errorf("%+v: want a knee at 49.2", calm)
	}
	if level == nil || level.Knee != nil || !strings.Contains(findings(document.New(s)), "The naive form: no peak up to 256") {
		t.Errorf("%+v: want no knee", level)
	}
}

// Throughput that saturates at 40 clients and never falls has no peak, in text and file, even if a law
// with a peak fits it well.
func TestSaturationIsNoPeak(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	var runs []results.Run
	for range 3 {
		for n := 2; n <= 256; n *= 2 {
			r := resulttest.MixedReads(1000)[1]
			r.Clients, r.Groups, r.ThroughputPerS = n, 1, 1000*min(float64(n), 40)*math.Exp(0.02*random.NormFloat64())
			runs = append(runs, r)
		}
	}
	s := resulttest.MixSweep(runs, "clients")
	if u := s.Curves[0].USL; u == nil || u.Knee != nil || u.KneeLow != nil || u.KneeHigh != nil {
		t.Errorf("%+v: want a law without a knee", u)
	}
	if got := document.New(s).Findings; len(got) != 1 || got[0] != "The mix: no peak up to 256 clients." {
		t.Errorf("it says %q", got)
	}
}

// The clients of a mix do not wait for each other, so a law can be fitted over their number; over the
// shares of reads, no law is fitted.
func TestSweepOfAMix(t *testing.T) {
	law := stats.USL{Alpha: 0.03, Beta: 0.0004, Gamma: 4000}
	var runs []results.Run
	for range 3 {
		for n := 2; n <= 128; n *= 2 {
			r := resulttest.MixedReads(1000)[1]
			r.Clients, r.Groups, r.ThroughputPerS = n, 1, law.Value(float64(n))
			runs = append(runs, r)
		}
	}
	s := resulttest.MixSweep(runs, "clients")
	if u := s.Curves[0].USL; u == nil || u.Knee == nil || math.Abs(*u.Knee-49.2) > 1 {
		t.Errorf("%+v, %q: want a knee at 49.2", u, s.Curves[0].NoUSL)
	}
	if got := document.New(s).Findings; len(got) != 1 || !strings.HasPrefix(got[0], "The mix: throughput peaks at 49 clients") {
		t.Errorf("it says %q", got)
	}
	s = resulttest.MixSweep(resulttest.MixedReads(1000), "reads")
	if len(s.Levels) != 3 || s.Levels[1].Reads != 0.5 || s.Levels[1].Size != 1000 || len(s.Levels[1].Runs) != 3 {
		t.Errorf("levels %+v", s.Levels)
	}
	if c := s.Curves[0]; c.USL != nil || c.NoUSL != "" {
		t.Errorf("a law over shares: %+v, %q", c.USL, c.NoUSL)
	}
}

// A cost that rises from 1 to 6.8 is not flat: an interval that includes 0 shows that it is only if it is narrow.
func TestAnUnknownGrowthIsNotFlat(t *testing.T) {
	var runs []results.Run
	for n, notif := range map[int]float64{2: 1.01, 4: 2.98, 8: 6.76} {
		runs = append(runs, resulttest.Sample{Form: "one-node", Family: "naive", Clients: n, Rounds: 4000, Notif: notif, Reads: 3, Writes: 2,
			Handoff: time.Millisecond, Acquire: time.Millisecond, Fanout: 1}.Run(resulttest.Native()))
	}
	rows := document.New(resulttest.SweepOf(runs...)).Tables[1].Rows
	want := "notifications per round not known: N^1.37 [−0.02, 2.76], from 2 clients on"
	if rows[0][2] != want || rows[1][2] != "reads and writes per round flat" {
		t.Errorf("%q", rows)
	}
}

// A search that could not tell is no pass: it has a check that is invalid and a verdict, and the warnings and the
// denominator are of all runs.
func TestAnUndecidedSearchIsInvalid(t *testing.T) {
	d := document.New(resulttest.Undecided())
	if d.Verdict != results.Invalid || d.Decision() != "INVALID: the objective is not decided." {
		t.Errorf("the verdict is %s: %q", d.Verdict, d.Decision())
	}
	if worst := d.Worst(); len(worst) != 1 || worst[0].Name != "acquire.response.p99<50ms" ||
		!strings.HasPrefix(worst[0].Why, "Undecided whether the form predecessor holds even 2\u202f400 arrivals/s: CPU steal 50 %") {
		t.Errorf("%+v: want one check, of the objective", worst)
	}
	warnings := d.AllWarnings()
	if len(warnings) != 2 || !strings.HasPrefix(warnings[0].Text, "predecessor, 2\u202f400 arrivals/s: in 4 of 5 runs: CPU steal 50 %") ||
		!strings.HasPrefix(warnings[1].Text, "predecessor, 2\u202f400 arrivals/s: in 4 of 5 runs: stalled") {
		t.Errorf("warnings %q", warnings)
	}
	if decided := document.New(resulttest.Searched()); decided.Verdict != "" || len(decided.Worst()) != 0 {
		t.Errorf("of a search with an answer: %s, %+v", decided.Verdict, decided.Worst())
	}
}

// A search shows the percentile that it judges, even where some levels do not have it.
func TestASearchShowsWhatItJudges(t *testing.T) {
	s := resulttest.Searched()
	s.Objective = "acquire.response.p999<50ms"
	levels.Analyse(&s)
	var heads []string
	for _, c := range document.New(s).Tables[0].Columns {
		heads = append(heads, c.Head)
	}
	if !slices.Contains(heads, "p99.9") {
		t.Errorf("columns %q", heads)
	}
}

// A sweep shows the chosen percentiles, as medians over the repetitions, and stores them in its file.
func TestSweepShowsChosenPercentiles(t *testing.T) {
	s := resulttest.SweepOf(resulttest.HerdRuns()...)
	s.Percentiles = []float64{75, 99.9}
	levels.Analyse(&s)
	text := textOf(t, s, render.Options{})
	l := s.Levels[0]
	want, known := levels.Across(levels.RunsOf(s, l), levels.ValueAt(func(r results.Run) *results.Distribution { return r.Times("acquire") }, 75))
	if got := l.Latency["acquire"]["p75"]; !known || got != want {
		t.Errorf("p75 of the first level is %+v, want %+v", got, want)
	}
	if v, ok := levels.Middle(s, l).Times("acquire").Percentile(75); !ok || v != int64(want.Value) {
		t.Errorf("the row of the first level has a p75 of %d, want %v", v, want.Value)
	}
	if !strings.Contains(text, "p75") || !strings.Contains(text, "p99.9") || strings.Contains(text, "p90 ") {
		t.Errorf("not the columns that were chosen:\n%s", text)
	}
}

// A headline claims no more of the levels than the doubts about their runs leave.
func TestASweepIsNoSurerThanItsRuns(t *testing.T) {
	doubted := func(runs []results.Run, share float64, of func(results.Run) bool) []results.Run {
		for i := range runs {
			if of(runs[i]) {
				runs[i].Doubts = []results.Warning{{Code: metrics.Others, Text: "other programs", Numbers: map[string]float64{metrics.LostShare: share}}}
			}
		}
		return runs
	}
	naive := func(r results.Run) bool { return r.Family == "naive" }
	calm := func(r results.Run) bool { return !naive(r) }
	for name, c := range map[string]struct {
		share   float64
		of      func(results.Run) bool
		worseBy float64
		want    string
		table   string
	}{
		"half of the naive form's time": {0.5, naive, 2,
			"From 17 clients on at the latest the naive form's hand-off p99 is more than 2 times the form predecessor's; at 128 clients at least 13 times; no more is certain: other programs.",
			"more than 2 times predecessor's in handoff.p99 from 17 clients on at the latest; no more is certain: other programs"},
		"all of the naive form's time": {1, naive, 2,
			"It is not known from where on, if at all, the naive form's hand-off p99 is more than 2 times the form predecessor's: other programs.",
			"not known whether more than 2 times predecessor's in handoff.p99; no more is certain: other programs"},
		"a tenth of the recipe's time": {0.1, calm, 40,
			"From 2 clients to 128 clients the naive form's hand-off p99 is at most 29 times the form predecessor's, and never 40 times; no more is certain: other programs.",
			"not more than 40 times predecessor's in handoff.p99 at the last level; no more is certain: other programs"},
	} {
		s := resulttest.SweepOf(doubted(resulttest.HerdRuns(), c.share, c.of)...)
		s.WorseBy = c.worseBy
		levels.Analyse(&s)
		if got := document.New(s).Findings[0]; got != c.want {
			t.Errorf("%s: %q\nwant %q", name, got, c.want)
		}
		s.Axes = []string{"clients", "hold"} // the table says it of each level of the second axis
		levels.Analyse(&s)
		var table strings.Builder
		for _, of := range document.New(s).Tables {
			for _, row := range of.Rows {
				table.WriteString(strings.Join(row, " ") + "\n")
			}
		}
		if !strings.Contains(table.String(), c.table) {
			t.Errorf("%s: %s\nwant %q", name, table.String(), c.table)
		}
	}

	all := func(results.Run) bool { return true }
	s := resulttest.SweepOf(doubted(resulttest.ScalingRuns(), 0.2, all)...)
	if text := findings(document.New(s)); strings.Count(text, "peaks is not known: other programs.") != 1 || strings.Contains(text, "no peak") ||
		!strings.Contains(text, "throughput peaks at 51 clients, at least 16, and no fall beyond it is certain, with this doubt: other programs.") {
		t.Errorf("of peaks it says %q", text)
	}

	for share, verb := range map[float64]string{0.001: "rises", 0.9: "goes"} {
		s := resulttest.MixSweep(doubted(resulttest.MixedReads(1000), share, all), "reads")
		if got := document.New(s).Findings[0]; !strings.Contains(got, "throughput "+verb+" from") {
			t.Errorf("%v: %q, want that it %s", share, got, verb)
		}
	}
}
