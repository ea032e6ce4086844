package document_test

import (
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/render"
	"github.com/stampede-bench/stampede/results/resulttest"
	"github.com/stampede-bench/stampede/results/units"
)

// repeatedRuns returns n repetitions of both forms. Their speed drifts from one repetition to the next,
// equally for both runs of a repetition.
func repeatedRuns(n int) results.File {
	random := rand.New(rand.NewPCG(7, 25))
	f := resulttest.FileOf()
	for i := range n {
		slow := math.Exp(0.8 * random.NormFloat64())
		took := func(d time.Duration, noise float64) time.Duration {
			return time.Duration(float64(d) * slow * math.Exp(noise*random.NormFloat64()))
		}
		for _, s := range []resulttest.Sample{
			{Form: "predecessor", Family: "recipe", Clients: 128, Rounds: 4350 + int64(i), Notif: 1, Reads: 3, Writes: 2, Handoff: took(64*time.Microsecond, 0.1), Acquire: 49 * time.Millisecond, Fanout: 1, Wasted: 0},
			{Form: "one-node", Family: "naive", Clients: 128, Rounds: 3050 - int64(i), Notif: 99.1, Reads: 99.1, Writes: 101.1, Handoff: took(900*time.Microsecond, 0.3), Acquire: 103 * time.Millisecond, Fanout: 127, Wasted: 0.99},
		} {
			r := s.Run(resulttest.Native())
			r.Repetition = i + 1
			f.Runs = append(f.Runs, r)
		}
	}
	return f
}

// An interval that reaches from microseconds to milliseconds is in the unit of its column.
func TestIntervalsHaveFewDigits(t *testing.T) {
	f := resulttest.FileOf()
	for i := range 6 {
		handoff := 300 * time.Microsecond
		if i == 5 {
			handoff = 4 * time.Millisecond
		}
		r := resulttest.Sample{Form: "predecessor", Family: "recipe", Clients: 8, Rounds: 4000, Notif: 1, Reads: 3, Writes: 2, Handoff: handoff, Acquire: time.Millisecond, Fanout: 1}.Run(resulttest.Native())
		r.Repetition = i + 1
		f.Runs = append(f.Runs, r)
	}
	table := textOf(t, f, render.Options{})
	if long := regexp.MustCompile(`\[[^\]]*\d\x{202f}\d{3}[^\]]*\]`).FindAllString(table, -1); len(long) > 0 {
		t.Errorf("%q in\n%s", long, table)
	}
}

// Six repetitions or more have a 95 % interval below every figure and in the finding; five have n/a in
// its place, and one has neither.
func TestRepetitionsHaveIntervals(t *testing.T) {
	wantText(t, repeatedRuns(7), render.Options{}, "repeated.txt")
	wantText(t, repeatedRuns(5), render.Options{}, "repeated-too-few.txt")
	for n, figures := range map[int]int{1: 0, 5: 0, 6: 9} {
		f := repeatedRuns(n)
		g := document.New(f).Tables[0]
		rows := 2
		if n > 1 {
			rows = 4
		}
		if len(g.Rows) != rows {
			t.Fatalf("%d repetitions: %d rows", n, len(g.Rows))
		}
		if got := strings.Count(strings.Join(g.Rows[1], " "), "["); got != figures {
			t.Errorf("%d repetitions: %d intervals, want %d: %q", n, got, figures, g.Rows[1])
		}
		if got := strings.Count(strings.Join(g.Rows[1], " "), units.Absent); n == 5 && got != 9 {
			t.Errorf("5 repetitions: %d of 9 intervals are n/a: %q", got, g.Rows[1])
		}
		line := document.New(f).Findings[1]
		if want := map[int]string{1: "times slower.", 5: " times slower [n/a: 95 % takes 6 repetitions].", 6: "]."}[n]; !strings.HasSuffix(line, want) {
			t.Errorf("%d repetitions: %q", n, line)
		}
	}
}

// The interval of "N times slower" contains the true ratio in at least 90 of 100 cases, although the
// service's speed drifts from one repetition to the next.
func TestIntervalsOfSlowdownsCover(t *testing.T) {
	const trials, times, truth = 2000, 8, 14.0
	random := rand.New(rand.NewPCG(1, 2))
	covered := 0
	for range trials {
		var naive, calm []results.Run
		for range times {
			drift := math.Exp(0.8 * random.NormFloat64())
			calm = append(calm, results.Run{ThroughputPerS: drift * math.Exp(0.1*random.NormFloat64())})
			naive = append(naive, results.Run{ThroughputPerS: truth * drift * math.Exp(0.3*random.NormFloat64())})
		}
		e := levels.RatioOf(naive, calm, func(r results.Run) (float64, bool) { return r.ThroughputPerS, true })
		if e.Low <= truth && truth <= e.High {
			covered++
		}
	}
	if share := float64(covered) / trials; share < 0.94 {
		t.Errorf("the intervals cover the ratio in %.1f %% of %d trials", 100*share, trials)
	}
}

// If the estimate differs from the ratio of the table's medians, a sentence explains why.
func TestPairedEstimateIsExplained(t *testing.T) {
	f := repeatedRuns(7)
	if text := strings.Join(document.New(f).Findings, "\n"); !strings.Contains(text, "median of the ratios within each repetition; the medians in the table") {
		t.Errorf("nothing explains the ratio:\n%s", text)
	}
	same := f
	same.Runs = append([]results.Run{}, f.Runs[:2]...)
	for i := range 6 {
		for _, r := range f.Runs[:2] {
			r.Repetition = i + 2
			same.Runs = append(same.Runs, r)
		}
	}
	if text := strings.Join(document.New(same).Findings, "\n"); strings.Contains(text, "within each repetition") {
		t.Errorf("what does not differ is explained:\n%s", text)
	}
}

// The file of repeated runs summarizes each row with intervals; a file of single runs has no summary.
func TestRepetitionsAreSummedUpInTheFile(t *testing.T) {
	f := repeatedRuns(7)
	levels.Summarize(&f)
	if len(f.Summary) != 2 {
		t.Fatalf("%d rows are summed up, want 2", len(f.Summary))
	}
	for i, l := range f.Summary {
		speed, p90 := l.Throughput, l.Latency["handoff"]["p90"]
		if l.Form != f.Runs[i].Form || len(l.Runs) != 7 || speed.Confidence < 0.95 || !(speed.Low < speed.Value && speed.Value < speed.High) ||
			!(p90.Low < p90.Value && p90.Value < p90.High) || l.PerRound[levels.Notifications].Value == 0 {
			t.Errorf("%s: runs %v, %+v, p90 %+v", l.Form, l.Runs, speed, p90)
		}
		for _, place := range l.Runs {
			if f.Runs[place].Form != l.Form {
				t.Errorf("run %d of %s is of %s", place, l.Form, f.Runs[place].Form)
			}
		}
	}
	few := repeatedRuns(5)
	if levels.Summarize(&few); few.Summary[0].Throughput.Confidence >= 0.95 {
		t.Errorf("5 repetitions: %+v", few.Summary[0].Throughput)
	}
	one := repeatedRuns(1)
	one.Runs[0].Repetition, one.Runs[1].Repetition = 0, 0
	if levels.Summarize(&one); one.Summary != nil {
		t.Errorf("nothing was repeated: %+v", one.Summary)
	}
}

// A ratio whose interval includes both slower and faster shows neither.
func TestARatioThatIncludesOneIsNotKnown(t *testing.T) {
	for spread, want := range map[float64]string{1.5: "Hand-off p90 may be slower or faster: ratio ", 1.01: "Hand-off p90 is no slower "} {
		var runs []results.Run
		for i := range 8 {
			slow := time.Duration(1e6 * math.Pow(spread, float64(i%2*2-1)))
			for _, of := range []resulttest.Sample{{Form: "predecessor", Family: "recipe", Handoff: time.Millisecond}, {Form: "one-node", Family: "naive", Handoff: slow}} {
				of.Clients, of.Rounds, of.Notif, of.Acquire = 8, 4000, 1, time.Millisecond
				r := of.Run(resulttest.Native())
				r.Repetition = i + 1
				runs = append(runs, r)
			}
		}
		if line := document.New(resulttest.FileOf(runs...)).Findings[1]; !strings.HasPrefix(line, want) {
			t.Errorf("a spread of %v: %q", spread, line)
		}
	}
}
