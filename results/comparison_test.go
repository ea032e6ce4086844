package results

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/internal/golden"
)

// compared returns a comparison with the given number of pairs.
func compared(pairs int, changes ...Change) Comparison {
	run := sample{"predecessor", "recipe", 8, 200, 1, 3, 2, time.Millisecond, time.Millisecond, 1, 0}.run(native())
	c := Comparison{Schema: Schema, Kind: KindComparison, ID: "20261122-ab", Started: time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC),
		Seed: 42, Took: 24 * time.Second, Paired: true, Planned: pairs, Warnings: []Warning{}, Changes: changes,
		Command: []string{"stampede", "ab", "lock/predecessor", "lock/predecessor zookeeper:?client=lean"},
		Base:    Side{Label: "lock/predecessor on zookeeper:"}, New: Side{Label: "lock/predecessor on zookeeper:?client=lean"}}
	for range pairs {
		c.Base.Runs, c.New.Runs = append(c.Base.Runs, run), append(c.New.Runs, run)
	}
	return c
}

func differs(figure, unit string, base, other, low, high float64, v Verdict) Change {
	p, power, detectable := 0.01, 0.97, (high-low)*0.7
	return Change{Figure: figure, Unit: unit, Gated: true, Base: base, New: other, P: &p, Minimum: 0.05, Power: &power, Detectable: &detectable, Verdict: v,
		Effect: &Estimate{Value: other/base - 1, Low: low, High: high, Confidence: 0.951}}
}

func mixed() []Change {
	return []Change{
		differs("rounds_per_s", "/s", 620, 875.4, 0.379, 0.45, Better),
		differs("handoff.response.p50", "ns", 1e6, 0.72e6, -0.331, -0.217, Better),
		differs("handoff.response.p99", "ns", 3e6, 3.057e6, -0.042, 0.047, Pass),
		differs("release.response.p99", "ns", 2e6, 2.12e6, -0.03, 0.149, Inconclusive),
		exactly("notifications_per_round", 1, 1, Pass),
	}
}

// exactly returns the change of a count that was compared without a test.
func exactly(figure string, base, other float64, v Verdict) Change {
	return Change{Figure: figure, Unit: "/round", Gated: true, Base: base, New: other, Exact: true, Minimum: 0.05, Verdict: v,
		Effect: &Estimate{Value: other/base - 1, Low: other/base - 1, High: other/base - 1, Confidence: 0.951}}
}

func TestComparisonTable(t *testing.T) {
	c := compared(10, mixed()...)
	c.Changes[3].Verdict, c.Changes[3].Why = Inconclusive, "worse by less than the noise floor of 8.1 %"
	c.Changes = append(c.Changes, Change{Figure: "fairness.jain", Unit: "share", Base: 0.998, New: 0.998, Verdict: Pass, Minimum: 0.05})
	c.Changes = append(c.Changes, Change{Figure: "acquire.response.p999", Unit: "ns", Gated: true, Minimum: 0.05, Verdict: Invalid, Why: "n/a: too few observations"})
	c.Calibrated = "floor of 20 A/A pairs, 2 h old"
	c.Warnings = []Warning{{"cpu-client-bound", "BASE: 1 of 10 runs: client-bound: the generator used 1.9 of 2 cores; the service may be faster than this"}}
	wantComparison(t, c, "comparison.txt")
}

func TestComparisonThatIsWorse(t *testing.T) {
	worse := exactly("notifications_per_round", 1, 99.1, Regression)
	worse.Subject = "128 clients"
	same := differs("notifications_per_round", "/round", 1, 1, 0, 0, Pass)
	same.Subject = "2 clients"
	again := worse
	c := compared(20, same, worse)
	c.Planned, c.Confirmation = 5, []Change{again}
	wantComparison(t, c, "comparison-worse.txt")
}

func TestComparisonOfFiles(t *testing.T) {
	c := compared(4, differs("rounds_per_s", "/s", 620, 630, -0.04, 0.06, Inconclusive), differs("handoff.response.p50", "ns", 1e6, 1.5e6, 0.3, 0.7, Regression))
	c.Paired, c.Planned, c.Command = false, 0, []string{"stampede", "compare", "a.json", "--", "b.json"}
	c.Means = []Mean{{"rounds_per_s", 0.0161, 3}}
	c.Quantiles = []Quantile{{"", "acquire", 0.999, 4_000_000, 3_000_000}}
	c.Warnings = []Warning{{DifferentSettings, "not the same durability: fsync and memory"}}
	wantComparison(t, c, "comparison-files.txt")
}

// This covers the finding, which people read first, for every outcome.
func TestComparisonFinding(t *testing.T) {
	none := differs("errors", "", 0, 7, 0, 0, Regression)
	none.Effect = nil
	void := differs("rounds_per_s", "/s", 1, 1, 0, 0, Violated)
	void.Why = "the form broke its promise in 3 of 20 runs"
	alone := Change{Figure: "rounds_per_s", Gated: true, Verdict: Inconclusive}
	one := compared(1, alone)
	one.Paired = false
	few := compared(4, differs("rounds_per_s", "/s", 10, 3, -0.8, -0.6, Inconclusive), exactly("notifications_per_round", 1, 1, Pass))
	few.Paired, few.Needed = false, 5
	cut := compared(3, mixed()...)
	cut.Interrupted, cut.Planned = true, 10
	for _, c := range []struct {
		of   Comparison
		want string
	}{
		{compared(10, mixed()[2], mixed()[4]), "No difference is shown that matters (±5.0 %), in 10 pairs."},
		{compared(10, none), "NEW is worse: errors where there was none, shown in 10 pairs."},
		{compared(10, void), "The numbers are void: the form broke its promise in 3 of 20 runs."},
		{compared(10, differs("rounds_per_s", "/s", 10, 9, 0, 0, Invalid)), "What was measured proves nothing of rounds_per_s."},
		{compared(10), "Nothing was compared: the two sides have nothing in common."},
		{one, "One run on a side shows nothing, whatever the numbers look like: it takes 4 on each side for 1 figure, or stampede ab, which interleaves runs."},
		{few, "So few runs show nothing of figures that vary, whatever the numbers look like: it takes 5 on each side for 2 figures, or stampede ab, which interleaves runs. " +
			"Neither a difference that matters nor its absence is shown of rounds_per_s: more runs may tell, or stampede ab, which interleaves runs. No worse: notifications_per_round."},
		{cut, "Interrupted: 3 of 10 pairs went through, and nothing is decided."},
	} {
		if got := strings.Join(c.of.Findings(), " "); got != c.want {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
}

func TestComparisonIsReadAgain(t *testing.T) {
	want := compared(2, mixed()...)
	var b bytes.Buffer
	if err := want.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	got, err := ReadComparison(&b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read something else than was written (-want +got):\n%s", diff)
	}
	_, err = ReadComparison(strings.NewReader(strings.Replace(text, KindComparison, KindSweep, 1)))
	if err == nil || err.Error() != `not the file of a comparison: its kind is "sweep"` {
		t.Errorf("%v", err)
	}
}

func TestCalibrationTable(t *testing.T) {
	c := Calibration{Pairs: 20, Seed: 42, Took: 48 * time.Second, Command: []string{"stampede", "calibrate"},
		Settings: []Noise{{Setting: "lock --backend native: --form predecessor --clients 8", Figures: []FigureNoise{
			{"rounds_per_s", "/s", true, 546, nil, 0.081, 0.031, 0.022},
			{"handoff.response.p50", "ns", true, 408_000, nil, 0.22, 0.108, 0.069},
			{"errors", "", false, 0, nil, 9, 9, 9},
		}}}}
	wantComparison(t, c, "calibration.txt")
	c.Interrupted, c.Settings = true, nil
	if got := c.finding(); got != "Interrupted: nothing was kept." {
		t.Error(got)
	}
}

// The ceilings of a generator are a calibration too.
func TestCeilingTable(t *testing.T) {
	c := Calibration{Command: []string{"stampede", "calibrate", "--ceiling"}, Seed: 42, Took: 8 * time.Second, Ceilings: []Ceiling{
		{Client: "lean", Sessions: 64, InFlight: 16, RequestsPerS: 412_345, CPUCores: 1.31, ServerCores: 0.58},
		{Client: "go-zookeeper", Sessions: 64, InFlight: 16, RequestsPerS: 91_234, CPUCores: 1.52, ServerCores: 0.21},
	}}
	wantComparison(t, c, "ceiling.txt")
}

func wantComparison(t *testing.T, v interface {
	WriteTable(io.Writer, TableOptions) error
}, name string) {
	t.Helper()
	var b bytes.Buffer
	if err := v.WriteTable(&b, TableOptions{Saved: "a.json"}); err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "testdata/"+name, b.Bytes())
	checkWidth(t, b.String())
}

// If the change of the pairs is not that of the medians beside it, one sentence explains why. There
// is no such sentence if all changes agree, or in a comparison of files.
func TestPairedChangeIsExplained(t *testing.T) {
	said := func(c Comparison) int {
		return strings.Count(strings.Join(c.notes(), "\n"), "from the changes within the pairs")
	}
	apart := differs("rounds_per_s", "/s", 100, 103, 0.01, 0.12, Inconclusive)
	apart.Effect.Value = 0.06
	c := compared(10, apart, mixed()[0])
	if text := strings.Join(c.notes(), "\n"); said(c) != 1 || !strings.Contains(text, "their change can differ: of rounds_per_s it is +3.0 %") {
		t.Errorf("nothing explains +6.0 %% beside 100 and 103:\n%s", text)
	}
	if c := compared(10, mixed()...); said(c) != 0 {
		t.Errorf("what does not differ is explained: %q", c.notes())
	}
	if c.Paired = false; said(c) != 0 {
		t.Errorf("files have no pairs: %q", c.notes())
	}
}
