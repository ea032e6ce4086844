package sweeps_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/workloads/sweeps"
)

func TestLevels(t *testing.T) {
	for _, c := range []struct {
		kind sweeps.Kind
		text string
		n    int
		want []float64
	}{
		{sweeps.Whole(1), "2..256", 0, []float64{2, 4, 8, 16, 32, 64, 128, 256}},
		{sweeps.Whole(1), "2..100", 0, []float64{2, 4, 8, 16, 32, 64, 100}},
		{sweeps.Whole(1), "2..70", 0, []float64{2, 4, 8, 16, 32, 70}}, // 64 is next to 70
		{sweeps.Whole(1), "2,32,8", 0, []float64{2, 8, 32}},
		{sweeps.Whole(1), "64", 0, []float64{64}},
		{sweeps.Whole(1), "1..1000", 4, []float64{1, 10, 100, 1000}},
		{sweeps.Whole(16), "16..256", 4, []float64{16, 48, 96, 256}},
		{sweeps.Rates(), "100..1000", 3, []float64{100, 316, 1000}},
		{sweeps.Durations(), "0,1ms", 0, []float64{0, float64(time.Millisecond)}},
		{sweeps.Shares(), "0..1", 0, []float64{0, 0.25, 0.5, 0.75, 1}},
		{sweeps.Shares(), "0..1", 4, []float64{0, 0.333, 0.667, 1}},
		{sweeps.Shares(), "0.1..0.9", 0, []float64{0.1, 0.35, 0.6, 0.9}}, // 0.85 is next to 0.9
		{sweeps.Shares(), "0,0.9,0.5,1", 0, []float64{0, 0.5, 0.9, 1}},
		{sweeps.Sizes(), "0,1k,1KiB", 0, []float64{0, 1000, 1024}},
		{sweeps.Sizes(), "100..1k", 0, []float64{100, 200, 400, 1000}}, // 800 is next to 1000
		{sweeps.Sizes(), "100..100k", 4, []float64{100, 1000, 10_000, 100_000}},
	} {
		got, err := c.kind.Levels(c.text, c.n)
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%s in %d: %v (-want +got):\n%s", c.text, c.n, err, diff)
		}
	}
	for _, text := range []string{"", "a", "2..", "8..2", "0..8", "2..4..8", "2,,3", "-1", "2.5"} {
		if got, err := sweeps.Whole(1).Levels(text, 0); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
	for _, text := range []string{"1..0", "0..2", "0.5..0.5", "1.1", "0..nan"} {
		if got, err := sweeps.Shares().Levels(text, 0); err == nil {
			t.Errorf("the shares %q are read as %v", text, got)
		}
	}
}

// TestOrder checks that every repetition has every cell once, and that the seed determines the
// order.
func TestOrder(t *testing.T) {
	var levels []sweeps.Level
	for n := 2; n <= 64; n *= 2 {
		levels = append(levels, sweeps.Level{Clients: n})
	}
	const subjects, repeat = 2, 3
	order := sweeps.Order(levels, subjects, repeat, 7)
	size := len(levels) * subjects
	if len(order) != repeat*size {
		t.Fatalf("%d cells", len(order))
	}
	for block := range slices.Chunk(order, size) {
		seen := map[sweeps.Cell]bool{}
		for _, c := range block {
			seen[c] = true
		}
		if len(seen) != size {
			t.Errorf("a repetition with %d of %d cells", len(seen), size)
		}
	}
	if slices.Equal(order[:size], order[size:2*size]) {
		t.Error("two repetitions in the same order")
	}
	if !slices.Equal(order, sweeps.Order(levels, subjects, repeat, 7)) {
		t.Error("another order with the same seed")
	}
	if slices.Equal(order, sweeps.Order(levels, subjects, repeat, 8)) {
		t.Error("the same order with another seed")
	}
}

func TestParseObjective(t *testing.T) {
	phases := []string{"acquire", "handoff", "release"}
	for given, want := range map[string]string{
		"acquire.response.p99<50ms":    "acquire.response.p99<50ms",
		"handoff.service.p999 < 1.5ms": "handoff.service.p999<1.5ms",
		"release.max<1s":               "release.response.max<1s",
		"rounds_per_s >= 500/s":        "rounds_per_s>=500",
	} {
		if o, err := sweeps.ParseObjective(given, phases); err != nil || o.String() != want {
			t.Errorf("%s is read as %v, %v", given, o, err)
		}
	}
	for given, want := range map[string]string{
		"aquire.response.p99<50ms":  `unknown metric "aquire.response.p99": did you mean "acquire.response.p99"?`,
		"acquire.response.p95<50ms": `unknown metric "acquire.response.p95": did you mean "acquire.response.p90"?`,
		"acquire.p99":               `"acquire.p99": want METRIC < LIMIT, or another of <= > >= ==, such as acquire.p99<50ms`,
		"acquire.p99<50":            `acquire.response.p99 "50": want a duration such as 50ms`,
		"acquire.p99<-5ms":          `"acquire.p99<-5ms": no run can meet it: want a limit above 0`,
		"acquire.p99<0ms":           `"acquire.p99<0ms": no run can meet it: want a limit above 0`,
	} {
		if _, err := sweeps.ParseObjective(given, phases); err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", given, err, want)
		}
	}
}

// judgedAt returns an objective and a run with the given number of observations of its phase.
func judgedAt(t *testing.T, count int64, p99 *int64) (sweeps.Objective, results.Run) {
	t.Helper()
	o, err := sweeps.ParseObjective("acquire.response.p99<50ms", []string{"acquire"})
	if err != nil {
		t.Fatal(err)
	}
	return o, results.Run{Rounds: 5000, Latency: map[string]results.Latency{"acquire": {Count: count, Response: &results.Distribution{P99: p99}}}}
}

func TestJudge(t *testing.T) {
	of := func(d time.Duration) *int64 { return (*int64)(&d) }
	o, good := judgedAt(t, 5000, of(time.Millisecond))
	_, close := judgedAt(t, 5000, of(49*time.Millisecond))
	_, over := judgedAt(t, 5000, of(50*time.Millisecond))
	skipped, unfinished, closed, unsafe := good, good, good, good
	skipped.Open, skipped.Generator = &results.Open{}, results.Generator{Offered: 80, Skipped: 1}
	unfinished.Open, unfinished.Generator = &results.Open{}, results.Generator{Offered: 80, Unfinished: 2}
	closed.Generator.Unfinished = 4 // in flight when the window ended, as always
	unsafe.Safety.Violations = 1
	for _, c := range []struct {
		run  results.Run
		want sweeps.Outcome
		why  string
	}{
		{close, sweeps.Met, ""},
		{closed, sweeps.Met, ""},
		{over, sweeps.Missed, "p99 is 50.0 ms"},
		{skipped, sweeps.Missed, "1 of 80 arrivals were not served"},
		{unfinished, sweeps.Missed, "2 of 80 arrivals were not served"},
		{unsafe, sweeps.Missed, "a safety violation invalidates the run"},
	} {
		got := o.Judge(c.run)
		if got.Outcome != c.want || got.Why != c.why || got.Slack > 0 != (c.want == sweeps.Met) && got.Slack != 0 {
			t.Errorf("%+v; want %v, %q", got, c.want, c.why)
		}
	}
}

// TestLostArrivalsCountAsInfinitelyLate checks that a run misses an objective if the percentile is among the
// arrivals that were not served, and only then.
func TestLostArrivalsCountAsInfinitelyLate(t *testing.T) {
	for lost, want := range map[int64]sweeps.Outcome{0: sweeps.Met, 40: sweeps.Met, 60: sweeps.Missed} {
		o, err := sweeps.ParseObjective("acquire.p99<50ms", []string{"acquire"})
		if err != nil {
			t.Fatal(err)
		}
		l := metrics.NewLatency("acquire")
		for range 5000 - lost {
			l.Record(time.Millisecond, time.Millisecond)
		}
		record := metrics.Record{Phases: []metrics.Phase{l.Phase()}}
		record.Generator.Offered, record.Generator.Completed, record.Generator.Skipped = 5000, 5000-lost, lost
		if lost > 0 {
			record.Doubt(metrics.Warning{Code: metrics.Skipped})
		}
		run := results.FromRecord(results.Setting{}, &record)
		if got := o.Judge(run); got.Outcome != want {
			t.Errorf("%d of 5,000 lost: %+v, want %v", lost, got, want)
		}
		if d := run.Latency["acquire"]; d.Response.Lost != lost || d.Service.Lost != 0 || (d.Response.P99 == nil) != (lost == 60) {
			t.Errorf("%d of 5,000 lost: %+v", lost, d.Response)
		}
	}
}

// TestTooFewObservationsAreUndecided checks that a run with too few observations of the phase is
// undecided: it does not miss the objective.
func TestTooFewObservationsAreUndecided(t *testing.T) {
	o, few := judgedAt(t, 420, nil)
	want := sweeps.Trial{Why: "420 observations are too few for acquire.response.p99, which needs 1\u202f000"}
	if got := o.Judge(few); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := o.Judge(results.Run{}); got.Outcome != sweeps.Undecided {
		t.Errorf("a run with nothing is %+v", got)
	}
}

// TestRunsShortOfCPU checks that a run whose load generator or machine was short of CPU meets an objective
// that its times meet, since they are at most too long, and is undecided otherwise: the rate is at most too
// low, and arrivals may have been lost for the same reason. Another doubt does not concern the figure.
func TestRunsShortOfCPU(t *testing.T) {
	for _, c := range []struct {
		text string
		lost int64
		want sweeps.Trial
	}{
		{"acquire.p99<50ms", 0, sweeps.Trial{Outcome: sweeps.Met, Slack: math.Log(50 / 3.9)}},
		{"acquire.p99<3ms", 0, sweeps.Trial{Why: "stolen"}},
		{"acquire.p99>3ms", 0, sweeps.Trial{Why: "stolen"}},
		{"acquire.p99<50ms", 1, sweeps.Trial{Why: "stolen"}},
		{"rounds_per_s>=500", 0, sweeps.Trial{Outcome: sweeps.Met, Slack: math.Log(2)}},
		{"rounds_per_s>=2000", 0, sweeps.Trial{Why: "stolen"}},
		{"rounds_per_s<2000", 0, sweeps.Trial{Why: "stolen"}},
		{"errors<=3", 0, sweeps.Trial{Outcome: sweeps.Met, Slack: 3}},
	} {
		p99 := 3900 * time.Microsecond
		_, run := judgedAt(t, 5000, (*int64)(&p99))
		o, err := sweeps.ParseObjective(c.text, []string{"acquire"})
		if err != nil {
			t.Fatal(err)
		}
		run.ThroughputPerS, run.Generator = 1000, results.Generator{Offered: 5000, Skipped: c.lost}
		run.Doubts = []results.Warning{{Code: metrics.Stolen, Text: "stolen"}}
		if c.lost > 0 {
			run.Doubts = append(run.Doubts, results.Warning{Code: metrics.Skipped, Text: "skipped"})
		}
		got := o.Judge(run)
		if got.Slack -= c.want.Slack; math.Abs(got.Slack) < 1e-12 {
			got.Slack = c.want.Slack
		}
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", c.text, got, c.want)
		}
		run.Doubts[0].Code = metrics.Bystanders
		if got := o.Judge(run); got.Outcome == sweeps.Undecided {
			t.Errorf("%s and a doubt about the background: %+v", c.text, got)
		}
	}
}

// TestSlack checks that slack uses the logarithm of times and rates and the plain value of counts,
// and that more slack is better in either direction.
func TestSlack(t *testing.T) {
	of := func(text string, throughput float64, violations int64) float64 {
		o, err := sweeps.ParseObjective(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := results.Run{Rounds: 1, ThroughputPerS: throughput, Errors: map[string]int64{"lost": violations}}
		return o.Judge(r).Slack
	}
	for got, want := range map[float64]float64{
		of("rounds_per_s>=500", 1000, 0): math.Log(2),
		of("rounds_per_s<500", 1000, 0):  -math.Log(2),
		of("errors<=3", 1, 1):            2,
		of("errors<=0", 1, 0):            0,
	} {
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("slack %v, want %v", got, want)
		}
	}
}

// Several objectives are met together: one that is missed decides, and then one that is undecided.
func TestObjectives(t *testing.T) {
	all, err := sweeps.ParseObjectives([]string{"acquire.p50<10ms", "acquire.p99<50ms"}, []string{"acquire"})
	if err != nil || all.String() != "acquire.response.p50<10ms, acquire.response.p99<50ms" {
		t.Fatalf("%v, %v", all, err)
	}
	run := func(count int64, p50 time.Duration, p99 *int64) results.Run {
		median := int64(p50)
		return results.Run{Latency: map[string]results.Latency{"acquire": {Count: count, Response: &results.Distribution{P50: &median, P99: p99}}}}
	}
	for name, c := range map[string]struct {
		run  results.Run
		want sweeps.Outcome
	}{
		"met":                      {run(1000, time.Millisecond, new(int64(20*time.Millisecond))), sweeps.Met},
		"the first missed":         {run(1000, 20*time.Millisecond, new(int64(20*time.Millisecond))), sweeps.Missed},
		"the last missed":          {run(1000, time.Millisecond, new(int64(60*time.Millisecond))), sweeps.Missed},
		"the last undecided":       {run(100, time.Millisecond, nil), sweeps.Undecided},
		"missed whatever the rest": {run(100, 20*time.Millisecond, nil), sweeps.Missed},
	} {
		if got := all.Judge(c.run); got.Outcome != c.want {
			t.Errorf("%s: %+v, want %v", name, got, c.want)
		}
	}
	near := all.Judge(run(1000, 9*time.Millisecond, new(int64(20*time.Millisecond))))
	far := all.Judge(run(1000, time.Millisecond, new(int64(20*time.Millisecond))))
	if near.Slack >= far.Slack {
		t.Errorf("slack %v near the limit of one, %v far from both", near.Slack, far.Slack)
	}
	if has, needs := all.Scarcest(run(300, time.Millisecond, nil)); has != 300 || needs != all[1].Needs() {
		t.Errorf("the scarcest has %d of %d", has, needs)
	}
	if _, needs := all.Scarcest(results.Run{}); needs != all[1].Needs() {
		t.Errorf("without a run %d are needed", needs)
	}
	if _, err := sweeps.ParseObjectives([]string{"acquire.p99<50ms", "acquire.p9<1s"}, []string{"acquire"}); err == nil {
		t.Error("a wrong second objective is accepted")
	}
}
