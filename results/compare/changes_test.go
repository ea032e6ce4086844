package compare_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/compare"
	"github.com/stampede-bench/stampede/results/figure"
)

// run returns a run of the lock with the given number of rounds in one second, hand-off time and
// notifications per round.
func run(rounds int64, handoff time.Duration, notifications float64) results.Run {
	h := hdrhistogram.New(1, int64(time.Hour), 3)
	h.RecordValues(int64(handoff), rounds)
	r := results.FromRecord(results.Setting{Recipe: "lock", Form: "predecessor", Clients: 8, Groups: 1},
		&metrics.Record{Duration: time.Second, Rounds: rounds, Phases: []metrics.Phase{{Name: "handoff", Response: h, Service: h}},
			Whole: metrics.Counts{Notifications: int64(notifications * float64(rounds))}, WholeRounds: rounds})
	r.Cost.Expected = &results.Expected{Identities: []results.Identity{{Formula: "notifications = N", Fixes: "whole.notifications_per_round"}}}
	r.Backend = results.Backend{Name: "native", URL: "native:", Durability: "memory", Client: "go-zookeeper", Reads: "local"}
	return r
}

// runs returns ten runs with a little noise, with the rounds and the times multiplied by the factor.
func runs(factor float64) (all []results.Run) {
	for i := range 10 {
		noise := 1 + 0.01*float64(i%5-2)
		all = append(all, run(int64(5000*factor*noise), time.Duration(float64(time.Millisecond)/factor/noise), 1))
	}
	return all
}

func judged(base, other []results.Run, rules compare.Rules) []results.Change {
	return rules.Changes([]compare.Subject{{Base: base, New: other, Figures: compare.Default([]string{"acquire", "handoff"})}})
}

func verdicts(all []results.Change) (words []string) {
	for _, c := range all {
		words = append(words, c.Figure+": "+string(c.Verdict))
	}
	return words
}

func want(t *testing.T, got []results.Change, words ...string) {
	t.Helper()
	if diff := cmp.Diff(words, verdicts(got)); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
}

var paired = compare.Rules{Paired: true, Minimum: 0.05}

func TestWorseAndBetter(t *testing.T) {
	names := []string{"rounds_per_s", "handoff.response.p50", "handoff.response.p90", "whole.notifications_per_round"}
	all := func(v string) (words []string) {
		for _, n := range names[:3] {
			words = append(words, n+": "+v)
		}
		return append(words, names[3]+": pass")
	}
	slower := judged(runs(1), runs(0.8), paired)
	// With 5,000 rounds, fifty observations lie beyond the 99th percentile.
	names[2] = "handoff.response.p99"
	want(t, slower, all("regression")...)
	want(t, judged(runs(0.8), runs(1), paired), all("improvement")...)
	want(t, judged(runs(1), runs(1), paired), all("pass")...)
	if v := compare.Verdict(slower); v != results.Regression {
		t.Errorf("verdict %s", v)
	}
	c := slower[0]
	if math.Abs(c.Effect.Value+0.2) > 0.001 || len(c.Ratios) != 10 || c.Unit != "/s" || *c.Adjusted < *c.P {
		t.Errorf("%+v", c)
	}
	want(t, judged(runs(1), runs(0.8), compare.Rules{Minimum: 0.05}), all("regression")...)
}

// A noise floor can prevent a regression verdict, and the reason says so. It never turns a verdict into
// a pass: a machine with a high noise floor passes nothing that would not pass without one.
func TestNoiseFloorNeverGrantsAPass(t *testing.T) {
	rules := paired
	rules.Floor = func(subject, figure string) float64 {
		return map[string]float64{"rounds_per_s": 0.3, "whole.notifications_per_round": 0.9}[figure]
	}
	got := judged(runs(1), runs(0.8), rules)
	want(t, got, "rounds_per_s: inconclusive", "handoff.response.p50: regression", "handoff.response.p99: regression", "whole.notifications_per_round: pass")
	if got[0].Minimum != 0.05 || got[0].Floor != 0.3 || got[0].Why != "worse by less than the noise floor of 30.0 %" || *got[0].Detectable < 0.3 {
		t.Errorf("%+v", got[0])
	}
	want(t, judged(runs(0.8), runs(1), rules), "rounds_per_s: pass", "handoff.response.p50: improvement", "handoff.response.p99: improvement", "whole.notifications_per_round: pass")
	// The exact count has no noise and no floor.
	if herd := judged(runs(1), herding(1.5), rules)[3]; herd.Verdict != results.Regression || herd.Floor != 0 {
		t.Errorf("%+v", herd)
	}
}

// herding returns ten runs with the given notifications per round.
func herding(notifications float64) []results.Run {
	all := runs(1)
	for i := range all {
		all[i].Cost.Whole.Notifications = int64(notifications * float64(all[i].Cost.WholeRounds))
	}
	return all
}

// A count that a formula fixes is decided by its values, of one run of each if there are no more: it has no
// p-value, and the other figures are tested as if it did not exist. A count that no formula fixes is tested,
// however equal its values are.
func TestExactCountsLeaveTheFamily(t *testing.T) {
	metrics := append(compare.Default([]string{"acquire", "handoff"})[:3],
		compare.Figure{Figure: figure.Known(nil, "whole.notifications_per_round")[0], Gated: true})
	judged := func(base, other []results.Run) []results.Change {
		return paired.Changes([]compare.Subject{{Base: base, New: other, Figures: metrics}})
	}
	fixed := func(factor, notifications float64) []results.Run {
		all := runs(factor)
		for i := range all {
			all[i].Cost.Whole, all[i].Cost.WholeRounds = results.Totals{Notifications: int64(100 * notifications)}, 100
			all[i].Cost.Expected = &results.Expected{Identities: []results.Identity{{Fixes: "whole.notifications_per_round", Holds: true}}}
		}
		return all
	}
	all := judged(fixed(1, 1), fixed(0.8, 1))
	if count := all[3]; !count.Exact || count.P != nil || count.Adjusted != nil || count.Verdict != results.Pass {
		t.Errorf("%+v", count)
	}
	if p, adjusted := *all[0].P, *all[0].Adjusted; adjusted != 3*p {
		t.Errorf("p %v, adjusted %v: want Holm over three figures", p, adjusted)
	}
	for notifications, verdict := range map[float64]results.Verdict{1.04: results.Pass, 1.05: results.Regression, 1: results.Pass, 0.99: results.Improvement} {
		for _, n := range []int{1, 10} {
			if c := judged(fixed(1, 1)[:n], fixed(1, notifications)[:n])[3]; c.Verdict != verdict || !c.Exact {
				t.Errorf("%v notifications a round instead of 1 in %d runs: %+v, want %s", notifications, n, c, verdict)
			}
		}
	}
	unfixed := fixed(1, 7)
	for i := range unfixed {
		unfixed[i].Cost.Expected = nil
	}
	if c := judged(fixed(1, 1)[:1], unfixed[:1])[3]; c.Verdict != results.Inconclusive || c.Exact {
		t.Errorf("one run without a formula: %+v", c)
	}
	if c := judged(fixed(1, 1), unfixed)[3]; c.Verdict != results.Regression || c.Exact || c.P == nil {
		t.Errorf("ten runs without a formula: %+v", c)
	}
}

// An improvement needs Holm's correction as much as a regression does.
func TestBetterIsCorrectedByHolm(t *testing.T) {
	// In nine of ten pairs the candidate is slightly faster, which is p = 0.02 for a single figure.
	base, other := runs(1), runs(1)
	for i := range other {
		other[i].ThroughputPerS = base[i].ThroughputPerS * (1.01 + 0.001*float64(i))
	}
	other[4].ThroughputPerS = base[4].ThroughputPerS * 0.98
	one := []compare.Figure{{Figure: parse(t, "rounds_per_s"), Gated: true}}
	want(t, paired.Changes([]compare.Subject{{Base: base, New: other, Figures: one}}), "rounds_per_s: improvement")
	got := judged(base, other, paired)
	if c := got[0]; c.Verdict != results.Pass || *c.P > 0.05 || *c.Adjusted <= 0.05 || c.Effect.Low <= 0 {
		t.Errorf("%s, p %v, adjusted %v, from %v: want a pass", c.Verdict, *c.P, *c.Adjusted, c.Effect.Low)
	}
}

// Four runs of each cannot show anything, whatever their values.
func TestNeededRuns(t *testing.T) {
	variants := func(n int) []compare.Subject {
		return []compare.Subject{{Base: runs(1)[:n], New: runs(0.3)[:n], Figures: compare.Default([]string{"handoff"})}}
	}
	unpaired := compare.Rules{Minimum: 0.05}
	for n, needed := range map[int]int{1: 5, 4: 5, 5: 0} {
		if got := compare.Needed(variants(n)); got != needed {
			t.Errorf("%d runs of each: need %d, want %d", n, got, needed)
		}
	}
	if v := compare.Verdict(unpaired.Changes(variants(4))); v == results.Regression {
		t.Error("four runs of each show something after all")
	}
	if v := compare.Verdict(unpaired.Changes(variants(5))); v != results.Regression {
		t.Errorf("five runs of each: %s, want a regression", v)
	}
}

// What is detectable is compared with twice the minimum effect. The warning names the figures with what is,
// and a number of pairs only if it is known to help.
func TestUnderpowered(t *testing.T) {
	power := 0.4
	of := func(detectable, floor float64, gated bool) results.Change {
		return results.Change{Figure: "rounds_per_s", Gated: gated, Minimum: 0.05, Floor: floor, Power: &power, Detectable: &detectable}
	}
	if lines := compare.Underpowered([]results.Change{of(0.1, 0, true), of(0.2, 0, false), {Gated: true, Minimum: 0.05}}, 25); lines != nil {
		t.Errorf("%v", lines)
	}
	const found = "; 80 % of such comparisons find: rounds_per_s 20.0 %"
	for _, c := range []struct {
		floor float64
		pairs int
		words string
	}{{0, 25, "too few pairs for a change of 10.0 %: --pairs 100"}, {0, 0, "a change of 10.0 % can be missed"}, {0.1, 25, "a change of 10.0 % can be missed"}} {
		got := compare.Underpowered([]results.Change{of(0.1, 0, true), of(0.2, c.floor, true)}, c.pairs)
		if len(got) != 1 || got[0].Code != results.LowPower || got[0].Text != c.words+found {
			t.Errorf("%+v", got)
		}
	}
}

// If some runs have too few observations for a percentile, a lower one with enough replaces it; if
// there is none, the verdict says so.
func TestTooFewObservations(t *testing.T) {
	few := runs(1)
	few[3] = run(200, time.Millisecond, 1) // two observations beyond the 99th percentile
	want(t, judged(few, runs(1), paired), "rounds_per_s: pass", "handoff.response.p50: pass", "handoff.response.p90: pass", "whole.notifications_per_round: pass")
	few[3] = run(50, time.Millisecond, 1)
	got := judged(few, runs(1), paired)
	want(t, got, "rounds_per_s: pass", "handoff.response.p50: pass", "handoff.response.p99: invalid", "whole.notifications_per_round: pass")
	if got[2].Why != "n/a in 1 of 20 runs: too few observations; a longer --duration has more" {
		t.Error(got[2].Why)
	}
}

// TestInfiniteTimes checks that a percentile which is infinite in all runs of the candidate and in none of the base is a
// regression, the other way round an improvement, and in some runs neither, and that no infinite value is written.
func TestInfiniteTimes(t *testing.T) {
	served := func(all []results.Run, lost int64, of int) []results.Run {
		for i := range of {
			r := &all[i]
			n := r.Latency["handoff"].Count
			r.Generator = results.Generator{Offered: n + lost, Completed: n, Skipped: lost}
			d := *r.Latency["handoff"].Response
			d.Lost, d.P50, d.P90, d.P99, d.P999 = lost, nil, nil, nil, nil
			r.Latency["handoff"] = results.Latency{Count: n, Service: r.Latency["handoff"].Service, Response: &d}
			r.Doubts = []results.Warning{{Code: metrics.Skipped, Text: "skipped"}}
		}
		return all
	}
	const most = 100_000
	for _, c := range []struct {
		base, other int // how many of ten runs lost most arrivals
		rules       compare.Rules
		want        results.Verdict
	}{
		{0, 10, paired, results.Regression}, {10, 0, paired, results.Improvement}, {0, 9, paired, results.Inconclusive},
		{10, 10, paired, results.Inconclusive}, {0, 10, compare.Rules{Minimum: 0.05}, results.Regression},
	} {
		changes := judged(served(runs(1), most, c.base), served(runs(1), most, c.other), c.rules)
		i := slices.IndexFunc(changes, func(x results.Change) bool { return strings.HasPrefix(x.Figure, "handoff.response.p9") })
		x := changes[i]
		if x.Verdict != c.want || x.BaseInfinite != (c.base > 5) || x.NewInfinite != (c.other > 5) || !x.Known() {
			t.Errorf("%d and %d of ten: %+v", c.base, c.other, x)
		}
		if _, err := json.Marshal(changes); err != nil {
			t.Error(err)
		}
	}
}

// Timed figures of doubtful runs prove nothing; counts remain valid. One doubtful run is tolerated.
func TestDoubtfulRuns(t *testing.T) {
	doubtful := func(n int, kind string) []results.Run {
		all := runs(1)
		for i := range n {
			all[i].Doubts = []results.Warning{{Code: kind, Text: "client-bound: 1.9 of 2 cores"}}
		}
		return all
	}
	want(t, judged(doubtful(4, metrics.ClientBound), runs(1), paired),
		"rounds_per_s: pass", "handoff.response.p50: pass", "handoff.response.p99: pass", "whole.notifications_per_round: pass")
	got := judged(doubtful(5, metrics.ClientBound), runs(1), paired)
	want(t, got, "rounds_per_s: invalid", "handoff.response.p50: invalid", "handoff.response.p99: invalid", "whole.notifications_per_round: pass")
	if got[0].Why != "5 of 20 runs are doubtful: client-bound: 1.9 of 2 cores" {
		t.Error(got[0].Why)
	}
	want(t, judged(doubtful(5, metrics.Abandoned), runs(1), paired),
		"rounds_per_s: pass", "handoff.response.p50: invalid", "handoff.response.p99: invalid", "whole.notifications_per_round: invalid")
	if lines := compare.Doubted("BASE", doubtful(5, metrics.Starved)); len(lines) != 1 || lines[0].Code != metrics.Starved || lines[0].Text != "base: 5 of 10 runs: client-bound: 1.9 of 2 cores" {
		t.Error(lines)
	}
}

func TestBrokenPromiseVoidsAll(t *testing.T) {
	bad := runs(1)
	bad[7].Safety.Violations = 2
	got := judged(runs(1), bad, paired)
	if v := compare.Verdict(got); v != results.Fail || got[0].Why != "safety was violated in 1 of 20 runs" {
		t.Errorf("%s: %s", v, got[0].Why)
	}
}

// If the base is 0, there is no ratio, and the change is a regression all the same.
func TestFromNothing(t *testing.T) {
	silent := make([]results.Run, 10)
	for i := range silent {
		silent[i] = run(5000, time.Millisecond, 0)
	}
	metric := []compare.Figure{{Figure: parse(t, "whole.notifications_per_round"), Gated: true}}
	got := paired.Changes([]compare.Subject{{Base: silent, New: runs(1), Figures: metric}})
	if c := got[0]; c.Verdict != results.Regression || c.Effect != nil || len(c.Ratios) != 0 {
		t.Errorf("%+v", c)
	}
	got = paired.Changes([]compare.Subject{{Base: runs(1), New: silent, Figures: metric}})
	if c := got[0]; c.Verdict != results.Improvement || c.Effect.Value != -1 {
		t.Errorf("%+v", c)
	}
	want(t, paired.Changes([]compare.Subject{{Base: silent, New: silent, Figures: metric}}), "whole.notifications_per_round: pass")
}

func parse(t *testing.T, name string) figure.Figure {
	t.Helper()
	f, err := figure.Parse(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Figures other than the gated ones are shown if they are known, and do not change the verdicts of the
// gated ones. A figure for which neither direction is better has no verdict.
func TestOthers(t *testing.T) {
	gated := compare.Default([]string{"handoff"})
	s := compare.Subject{Base: runs(1), New: runs(0.8), Figures: append(gated, compare.Others([]string{"handoff"}, gated)...)}
	all := paired.Changes([]compare.Subject{s})
	by := map[string]results.Change{}
	for _, c := range all {
		if by[c.Figure].Figure != "" {
			t.Errorf("%s is there twice", c.Figure)
		}
		by[c.Figure] = c
	}
	if *by["rounds_per_s"].Adjusted != *judged(runs(1), runs(0.8), paired)[0].Adjusted {
		t.Error("figures that are not gated are corrected for")
	}
	if c := by["handoff.service.p50"]; c.Verdict != results.Regression || c.Gated {
		t.Errorf("%+v", c)
	}
	if c := by["rounds"]; c.Verdict != "" || c.Effect == nil {
		t.Errorf("%+v", c)
	}
	if _, there := by["fairness.jain"]; there {
		t.Error("a figure that no run has")
	}
}

func TestConfirm(t *testing.T) {
	first := judged(runs(1), runs(0.8), paired)
	if again := compare.Confirm(first, judged(runs(1), runs(0.8), paired)); compare.Verdict(again) != results.Regression {
		t.Errorf("%v", verdicts(again))
	}
	calm := compare.Confirm(first, judged(runs(1), runs(1), paired))
	want(t, calm, "rounds_per_s: inconclusive", "handoff.response.p50: inconclusive", "handoff.response.p99: inconclusive", "whole.notifications_per_round: pass")
	if calm[0].Why != "not found again: pass" || first[0].Verdict != results.Regression {
		t.Errorf("%q, and at first %s", calm[0].Why, first[0].Verdict)
	}
	if n := len(compare.Regressed(first)); n != 3 {
		t.Errorf("%d regressions, want 3", n)
	}
}

func TestMeans(t *testing.T) {
	means := compare.Means([]results.Change{
		{Subject: "a", Figure: "rounds_per_s", Base: 100, New: 200}, {Subject: "b", Figure: "rounds_per_s", Base: 100, New: 50},
		{Subject: "a", Figure: "errors", Base: 0, New: 2}, {Subject: "b", Figure: "errors", Base: 1, New: 2},
	})
	if len(means) != 1 || means[0].Subjects != 2 || math.Abs(means[0].Change) > 1e-12 {
		t.Errorf("%+v: twice as much and half as much is no change", means)
	}
}

func files(all ...[]results.Run) (fs []results.File) {
	for _, r := range all {
		fs = append(fs, results.File{Runs: r})
	}
	return fs
}

func TestRows(t *testing.T) {
	two, eight, odd := run(9, 1, 1), run(9, 1, 1), run(9, 1, 1)
	two.Clients, odd.Form = 2, "one-node"
	rows, warnings := compare.Rows(files([]results.Run{two, eight}, []results.Run{two, eight}), files([]results.Run{eight, two, odd}))
	if len(rows) != 2 || len(rows[0].Base) != 2 || len(rows[0].New) != 1 || rows[0].Name != "lock/predecessor on native:, 8 clients" {
		t.Errorf("%+v", rows)
	}
	only := results.Warning{Code: results.OneVariantOnly, Text: "only in the candidate: lock/one-node on native:, 8 clients",
		Names: map[string]string{"side": "NEW", "subject": "lock/one-node on native:, 8 clients"}}
	if diff := cmp.Diff([]results.Warning{only}, warnings); diff != "" {
		t.Error(diff)
	}
}

// Runs with different settings are compared if there is no better match, with a warning for each
// setting.
func TestUnlikeSettings(t *testing.T) {
	base, other := run(9, 1, 1), run(9, 1, 1)
	other.Backend = results.Backend{Name: "native", URL: "native:?durability=fsync", Durability: "fsync", Client: "lean", Reads: "sync"}
	base.Settings, other.Settings = map[string]string{"hold": "0s"}, map[string]string{"hold": "1ms"}
	fs := files([]results.Run{other})
	fs[0].Host.Cores = 64
	rows, warnings := compare.Rows(files([]results.Run{base}), fs)
	if len(rows) != 1 || rows[0].Name != "" {
		t.Fatalf("%+v", rows)
	}
	var text string
	for _, w := range warnings {
		text += w.Text + "\n"
	}
	for _, want := range []string{"not the same durability: memory and fsync",
		"not the same client library: go-zookeeper and lean", "not the same consistency: local and sync", "not the same hold: 0s and 1ms", "not the same machine: 0 × "} {
		if !strings.Contains(text, want) {
			t.Errorf("%s\nis missing in\n%s", want, text)
		}
	}
	kernel := files([]results.Run{run(9, 1, 1)})
	kernel[0].Host.Kernel, kernel[0].Host.MemoryBytes = "7.0", 1<<30
	_, warnings = compare.Rows(files([]results.Run{run(9, 1, 1)}), kernel)
	if len(warnings) != 2 || !strings.HasPrefix(warnings[0].Text, "not the same kernel: ") || !strings.HasPrefix(warnings[1].Text, "not the same memory: ") {
		t.Errorf("of one machine with another kernel and memory: %+v", warnings)
	}
	other.Form = "one-node"
	if rows, _ := compare.Rows(files([]results.Run{base}), files([]results.Run{other})); len(rows) != 1 {
		t.Errorf("one form and another are not compared: %+v", rows)
	}
	if rows, _ := compare.Rows(files([]results.Run{base}), files([]results.Run{other, run(9, 1, 1)})); len(rows) != 1 || rows[0].New[0].Form != "predecessor" {
		t.Errorf("%+v", rows)
	}
	third := other
	third.Clients = 2
	if rows, warnings := compare.Rows(files([]results.Run{base}), files([]results.Run{other, third})); len(rows) != 0 || !strings.Contains(warnings[0].Text, "in common") {
		t.Errorf("%+v, %v", rows, warnings)
	}
}

// Histograms are merged, never averaged, and not used if a test is possible.
func TestQuantiles(t *testing.T) {
	s := compare.Subject{Name: "a", Base: []results.Run{run(50, time.Millisecond, 1), run(150, 3*time.Millisecond, 1)}, New: []results.Run{run(400, 2*time.Millisecond, 1)}}
	got := compare.Quantiles(s)
	if len(got) != 2 || got[0].Quantile != 0.5 || got[1].Quantile != 0.9 {
		t.Fatalf("%+v: want the median and the 90th percentile, which ten lie beyond", got)
	}
	if ratio := float64(got[0].BaseNS) / float64(got[0].NewNS); math.Abs(ratio-1.5) > 0.01 {
		t.Errorf("%+v: want 3 ms and 2 ms", got[0])
	}
	if got := compare.Quantiles(compare.Subject{Base: runs(1), New: runs(1)}); got != nil {
		t.Errorf("%+v of ten runs of each", got)
	}
}

// Arrivals that were not served count in the quantiles as they do in the figures: a quantile that is the time of one is
// infinite, also where a run served none, and what is infinite in no figure is so in no quantile.
func TestQuantilesCountLostArrivals(t *testing.T) {
	open := func(served, lost int64) results.Run {
		r := run(served, 2*time.Millisecond, 1)
		r.Phases = []string{"handoff"}
		r.Generator = results.Generator{Offered: served + lost, Completed: served, Skipped: lost}
		if r.Latency["handoff"].Response != nil {
			d := *r.Latency["handoff"].Response
			d.Lost, d.P50, d.P90, d.P99, d.P999 = lost, nil, nil, nil, nil
			r.Latency["handoff"] = results.Latency{Count: served, Service: r.Latency["handoff"].Service, Response: &d}
		}
		return r
	}
	for _, c := range []struct {
		served, lost int64
		infinite     []bool // p50, p90, p99
	}{
		{2000, 0, []bool{false, false, false}}, {2000, 100, []bool{false, false, true}}, {2000, 1000, []bool{false, true, true}},
		{2000, 3000, []bool{true, true, true}}, {0, 2000, []bool{true, true, true}},
	} {
		for _, other := range []bool{false, true} {
			s := compare.Subject{Base: []results.Run{open(2000, 0)}, New: []results.Run{open(c.served, c.lost)}}
			if other {
				s.Base, s.New = s.New, s.Base
			}
			got := compare.Quantiles(s)
			if len(got) != len(c.infinite) {
				t.Fatalf("%d served, %d lost: %+v", c.served, c.lost, got)
			}
			for i, q := range got {
				ns, infinite, served := q.NewNS, q.NewInfinite, q.BaseNS
				if other {
					ns, infinite, served = q.BaseNS, q.BaseInfinite, q.NewNS
				}
				is := figure.Known([]string{"handoff"}, "handoff.response.p50", "handoff.response.p90", "handoff.response.p99")[i].Read(open(c.served, c.lost))
				if infinite != c.infinite[i] || infinite != is.Infinite() || infinite != (ns == 0) || served == 0 {
					t.Errorf("%d served, %d lost, base %v: %+v; the figure is %v", c.served, c.lost, other, q, is.Value)
				}
			}
			if _, err := json.Marshal(got); err != nil {
				t.Error(err)
			}
		}
	}
}
