package document_test

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/results/render"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// compared returns a comparison with the given number of pairs.
func compared(pairs int, changes ...results.Change) results.Comparison {
	run := resulttest.Sample{Form: "predecessor", Family: "recipe", Clients: 8, Rounds: 200, Notif: 1, Reads: 3, Writes: 2, Handoff: time.Millisecond, Acquire: time.Millisecond, Fanout: 1, Wasted: 0}.Run(resulttest.Native())
	c := results.Comparison{Head: results.Head{Schema: results.Schema, Kind: results.KindComparison, ID: "20261122-ab", Started: time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC), Seed: 42, Took: 24 * time.Second, Command: []string{"stampede", "ab", "lock/predecessor", "lock/predecessor zookeeper:?client=lean"}}, Paired: true, Planned: pairs, Warnings: []results.Warning{}, Changes: changes, Base: results.Variant{Label: "lock/predecessor on zookeeper:"}, New: results.Variant{Label: "lock/predecessor on zookeeper:?client=lean"}}
	for range pairs {
		c.Base.Runs, c.New.Runs = append(c.Base.Runs, run), append(c.New.Runs, run)
	}
	return c
}

func differs(figure, unit string, base, other, low, high float64, v results.Verdict) results.Change {
	p, power, detectable := 0.01, 0.97, (high-low)*0.7
	return results.Change{Figure: figure, Unit: unit, Gated: true, Base: base, New: other, P: &p, Minimum: 0.05, Power: &power, Detectable: &detectable, Verdict: v,
		Effect: &results.Estimate{Value: other/base - 1, Low: low, High: high, Confidence: 0.951}}
}

func mixed() []results.Change {
	return []results.Change{
		differs("rounds_per_s", "/s", 620, 875.4, 0.379, 0.45, results.Improvement),
		differs("handoff.response.p50", "ns", 1e6, 0.72e6, -0.331, -0.217, results.Improvement),
		differs("handoff.response.p99", "ns", 3e6, 3.057e6, -0.042, 0.047, results.Pass),
		differs("release.response.p99", "ns", 2e6, 2.12e6, -0.03, 0.149, results.Inconclusive),
		exactly("notifications_per_round", 1, 1, results.Pass),
	}
}

// exactly returns the change of a count that was compared without a test.
func exactly(figure string, base, other float64, v results.Verdict) results.Change {
	return results.Change{Figure: figure, Unit: "/round", Gated: true, Base: base, New: other, Exact: true, Minimum: 0.05, Verdict: v,
		Effect: &results.Estimate{Value: other/base - 1, Low: other/base - 1, High: other/base - 1, Confidence: 0.951}}
}

func TestComparisonTable(t *testing.T) {
	c := compared(10, mixed()...)
	c.Changes[3].Verdict, c.Changes[3].Why = results.Inconclusive, "worse by less than the noise floor of 8.1 %"
	c.Changes = append(c.Changes, results.Change{Figure: "fairness.jain", Unit: "share", Base: 0.998, New: 0.998, Verdict: results.Pass, Minimum: 0.05})
	c.Changes = append(c.Changes, results.Change{Figure: "acquire.response.p999", Unit: "ns", Gated: true, Minimum: 0.05, Verdict: results.Invalid, Why: "n/a: too few observations"})
	c.Calibrated = "floor of 20 A/A pairs, 2 h old"
	c.Warnings = []results.Warning{{Code: "cpu-client-bound", Text: "base: 1 of 10 runs: client-bound: the generator used 1.9 of 2 cores; the service may be faster"}}
	wantText(t, c, render.Options{Saved: "a.json"}, "comparison.txt")
}

func TestComparisonThatIsWorse(t *testing.T) {
	worse := exactly("notifications_per_round", 1, 99.1, results.Regression)
	worse.Subject = "128 clients"
	same := differs("notifications_per_round", "/round", 1, 1, 0, 0, results.Pass)
	same.Subject = "2 clients"
	again := worse
	c := compared(20, same, worse)
	c.Planned, c.Confirmation = 5, []results.Change{again}
	wantText(t, c, render.Options{Saved: "a.json"}, "comparison-worse.txt")
}

// TestComparisonOfServicesStartedOnce checks that the summary says which comparisons have one start of a
// service in all pairs.
func TestComparisonOfServicesStartedOnce(t *testing.T) {
	for _, started := range [][2]bool{{true, true}, {true, false}, {false, true}, {false, false}} {
		c := compared(10, mixed()...)
		c.Base.StartedOnce, c.New.StartedOnce = started[0], started[1]
		if text := notes(c); strings.Contains(text, "one start: each service was started once for all pairs") != (started[0] || started[1]) {
			t.Errorf("%v: %s", started, text)
		}
	}
}

func TestComparisonOfFiles(t *testing.T) {
	c := compared(4, differs("rounds_per_s", "/s", 620, 630, -0.04, 0.06, results.Inconclusive), differs("handoff.response.p50", "ns", 1e6, 1.5e6, 0.3, 0.7, results.Regression))
	c.Paired, c.Planned, c.Command = false, 0, []string{"stampede", "compare", "a.json", "--", "b.json"}
	c.Means = []results.Mean{{Figure: "rounds_per_s", Change: 0.0161, Subjects: 3}}
	c.Quantiles = []results.Quantile{{Subject: "", Phase: "acquire", Quantile: 0.999, BaseNS: 4_000_000, NewNS: 3_000_000},
		{Phase: "release", Quantile: 0.5, BaseNS: 4_000_000, NewInfinite: true}, {Phase: "release", Quantile: 0.9, BaseInfinite: true, NewInfinite: true}}
	c.Warnings = []results.Warning{{Code: results.DifferentSettings, Text: "not the same durability: fsync and memory"}}
	wantText(t, c, render.Options{Saved: "a.json"}, "comparison-files.txt")
}

// This covers the finding, which people read first, for every outcome.
func TestComparisonFinding(t *testing.T) {
	none := differs("errors", "", 0, 7, 0, 0, results.Regression)
	none.Effect = nil
	void := differs("rounds_per_s", "/s", 1, 1, 0, 0, results.Fail)
	void.Why = "safety was violated in 3 of 20 runs"
	alone := results.Change{Figure: "rounds_per_s", Gated: true, Verdict: results.Inconclusive}
	one := compared(1, alone)
	one.Paired, one.Needed = false, 5
	few := compared(4, alone, exactly("notifications_per_round", 1, 1, results.Pass))
	few.Paired, few.Needed = false, 5
	unknown := results.Change{Figure: "handoff.response.p99", Gated: true, Verdict: results.Invalid, Why: "n/a: too few observations"}
	enough := compared(12, unknown)
	enough.Paired = false
	both := compared(4, alone, unknown)
	both.Paired, both.Needed = false, 5
	cut := compared(3, mixed()...)
	cut.Interrupted, cut.Planned = true, 10
	for _, c := range []struct {
		of   results.Comparison
		want string
	}{
		{compared(10, mixed()[2], mixed()[4]), "No difference of ±5.0 % or more is shown in 10 pairs."},
		{compared(10, none), "REGRESSION: the candidate is worse: errors, absent in the base, shown in 10 pairs."},
		{compared(10, void), "The numbers are void: safety was violated in 3 of 20 runs."},
		{compared(10, differs("rounds_per_s", "/s", 10, 9, 0, 0, results.Invalid)), "Invalid: rounds_per_s."},
		{compared(10), "Nothing was compared: base and candidate have nothing in common."},
		{one, "One run of base and candidate each is not enough: 5 of each are needed for 1 metric, or use stampede ab, which interleaves runs."},
		{few, "Too few runs for metrics that vary: 5 of each are needed for 1 metric, or use stampede ab, which interleaves runs. " +
			"No worse: notifications_per_round."},
		{enough, "Invalid: handoff.response.p99."},
		{both, "Too few runs: 5 of each are needed for 1 metric, or use stampede ab, which interleaves runs. Invalid: handoff.response.p99."},
		{cut, "Interrupted: 3 of 10 pairs completed; there is no verdict."},
	} {
		if got := findings(document.New(c.of)); got != c.want {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
}

func TestCalibrationTable(t *testing.T) {
	c := results.Calibration{Head: results.Head{Seed: 42, Took: 48 * time.Second, Command: []string{"stampede", "calibrate"}}, Pairs: 20, Settings: []results.Noise{{Setting: "lock --backend native: --form predecessor --clients 8", Figures: []results.FigureNoise{
		{Figure: "rounds_per_s", Unit: "/s", Shown: true, Median: 546, Ratios: nil, One: 0.081, Ten: 0.031, Twenty: 0.022},
		{Figure: "handoff.response.p50", Unit: "ns", Shown: true, Median: 408_000, Ratios: nil, One: 0.22, Ten: 0.108, Twenty: 0.069},
		{Figure: "errors", Unit: "", Shown: false, Median: 0, Ratios: nil, One: 9, Ten: 9, Twenty: 9},
	}}}}
	wantText(t, c, render.Options{Saved: "a.json"}, "calibration.txt")
	c.Settings[0].Figures = c.Settings[0].Figures[2:]
	if d := document.New(c); strings.Contains(d.Findings[0], "±") {
		t.Errorf("%q, although no figure is shown", d.Findings[0])
	}
	c.Interrupted, c.Settings = true, nil
	if d := document.New(c); d.Interrupted != "Interrupted: nothing was kept." || len(d.Findings) > 0 {
		t.Errorf("%q, %q", d.Interrupted, d.Findings)
	}
}

// The ceilings of a generator are a calibration too.
func TestCeilingTable(t *testing.T) {
	c := results.Calibration{Head: results.Head{Command: []string{"stampede", "calibrate", "--ceiling"}, Seed: 42, Took: 8 * time.Second}, Ceilings: []results.Ceiling{
		{Client: "lean", Sessions: 64, InFlight: 16, RequestsPerS: 412_345, CPUCores: 1.31, ServerCores: 0.58},
		{Client: "go-zookeeper", Sessions: 64, InFlight: 16, RequestsPerS: 91_234, CPUCores: 1.52, ServerCores: 0.21},
	}}
	wantText(t, c, render.Options{Saved: "a.json"}, "ceiling.txt")
}

// findings returns the findings of a document, or why there are none.
func findings(d document.Document) string {
	return cmp.Or(strings.Join(d.Findings, " "), d.Interrupted)
}

// If the change of the pairs is not that of the medians beside it, one sentence explains why. There
// is no such sentence if all changes agree, or in a comparison of files.
func TestPairedChangeIsExplained(t *testing.T) {
	said := func(c results.Comparison) int {
		return strings.Count(notes(c), "estimated within pairs")
	}
	apart := differs("rounds_per_s", "/s", 100, 103, 0.01, 0.12, results.Inconclusive)
	apart.Effect.Value = 0.06
	c := compared(10, apart, mixed()[0])
	if text := notes(c); said(c) != 1 || !strings.Contains(text, "whose change can differ: of rounds_per_s it is +3.0 %") {
		t.Errorf("nothing explains +6.0 %% beside 100 and 103:\n%s", text)
	}
	if c := compared(10, mixed()...); said(c) != 0 {
		t.Errorf("what does not differ is explained: %q", notes(c))
	}
	if c.Paired = false; said(c) != 0 {
		t.Errorf("files have no pairs: %q", notes(c))
	}
}

// notes returns the notes of a result's document, a line each.
func notes(r results.Result) string {
	var lines []string
	for _, n := range document.New(r).Notes {
		lines = append(lines, n.Text)
	}
	return strings.Join(lines, "\n")
}
