package gate_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/gate"
	"github.com/stampede-bench/stampede/results/units"
)

// herding returns a run of a lock whose hand-off has a p99 of one millisecond in the herd-avoiding form and of
// ten in the naive form.
func herding(form string, clients int) results.Run {
	family, p99, woken := "recipe", time.Millisecond, int64(1000)
	if form == "one-node" {
		family, p99, woken = "naive", 10*time.Millisecond, 1000*int64(clients)
	}
	ns := func(d time.Duration) *int64 { n := int64(d); return &n }
	return results.Run{Recipe: "lock", Form: form, Family: family, Clients: clients, Phases: []string{"acquire", "handoff"},
		Backend:  results.Backend{Name: "native", URL: "native:", Durability: "memory", Client: "go-zookeeper", Started: "own process"},
		Settings: map[string]string{"hold": "1ms", "background": ""}, HoldNS: time.Millisecond, DurationNS: 2 * time.Second, Rounds: 1000, ThroughputPerS: 500,
		Latency: map[string]results.Latency{
			"acquire": {Count: 1000, Response: &results.Distribution{P50: ns(p99 / 2)}},
			"handoff": {Count: 1000, Response: &results.Distribution{P50: ns(p99 / 2), P90: ns(p99 / 2), P99: ns(p99), HDR: "HISTFAAA"}}},
		Cost: results.Cost{PerRound: &results.PerRound{Notifications: float64(woken) / 1000, Reads: 3, Writes: 2},
			Whole: results.Totals{Notifications: woken, Reads: 3000, Writes: 2000}, WholeRounds: 1000},
		Safety: results.Safety{Checked: 1000}, Doubts: []results.Warning{}}
}

func file(runs ...results.Run) results.File {
	return results.File{Head: results.Head{Schema: results.Schema, Host: results.Host{OS: "linux", Kernel: "6.1", CPU: "some", Cores: 2}}, Runs: runs}
}

// judged judges a file by one threshold. It returns a line with the verdict and its reason for each
// selected run.
func judged(t *testing.T, text string, f results.File, base *results.File) (lines []string, v results.Verdict) {
	t.Helper()
	gates, v := gate.Judge(f, []gate.Threshold{parsed(t, text, f)}, base)
	for _, g := range gates {
		lines = append(lines, strings.TrimSuffix(fmt.Sprintf("%s@%d: %s %s %s: %s: %s", f.Runs[g.Run].Form, f.Runs[g.Run].Clients,
			show(g.Measured, g.Unit), g.Op, show(g.Limit, g.Unit), g.Verdict, g.Why), ": "))
	}
	return lines, v
}

func parsed(t *testing.T, text string, f results.File) gate.Threshold {
	t.Helper()
	th, err := gate.Parse(text, "", gate.Rows(f.Runs))
	if err != nil {
		t.Fatal(err)
	}
	return th
}

func show(v *float64, unit string) string {
	if v == nil {
		return "n/a"
	}
	return units.Value(*v, unit)
}

// TestPartners checks which run stands beside another: one of the same repetition, whatever its client library, and
// not one under other conditions. The run that has none is invalid, and says what differs.
func TestPartners(t *testing.T) {
	const text = "predecessor.handoff.p99 < 0.5 * one-node.handoff.p99"
	again := []results.Run{herding("predecessor", 2), herding("one-node", 2), herding("predecessor", 2), herding("one-node", 2)}
	for i := range again {
		again[i].Repetition = 1 + i/2
	}
	library := herding("one-node", 2)
	library.Backend.Client = "lean"
	held := herding("one-node", 2)
	held.Settings = map[string]string{"hold": "5ms", "background": ""}
	for name, c := range map[string]struct {
		runs    []results.Run
		lines   int
		verdict results.Verdict
		why     string
	}{
		"repeated":        {again, 2, results.Pass, ""},
		"another library": {[]results.Run{herding("predecessor", 2), library}, 1, results.Pass, ""},
		"other conditions": {[]results.Run{herding("predecessor", 2), held}, 1, results.Invalid,
			"beside lock/predecessor, 2 clients, native: the run of one-node is not comparable: lock/one-node: its hold is 5ms, not 1ms"},
	} {
		lines, v := judged(t, text, file(c.runs...), nil)
		if v != c.verdict || len(lines) != c.lines || !strings.HasSuffix(lines[0], c.why) {
			t.Errorf("%s: %s, %q; want %s: %s", name, v, lines, c.verdict, c.why)
		}
	}
}

func TestJudge(t *testing.T) {
	f := file(herding("predecessor", 32), herding("one-node", 32))
	for _, c := range []struct {
		text    string
		verdict results.Verdict
		lines   []string
	}{
		{"predecessor.handoff.p99<5ms", results.Pass, []string{"predecessor@32: 1.00 ms < 5.00 ms: pass"}},
		{"handoff.p99<5ms", results.Fail, []string{"predecessor@32: 1.00 ms < 5.00 ms: pass", "one-node@32: 10.0 ms < 5.00 ms: fail"}},
		{"lock@32.whole.notifications_per_round <= 1", results.Fail, []string{"predecessor@32: 1.00 <= 1.00: pass", "one-node@32: 32.0 <= 1.00: fail"}},
		{"predecessor.handoff.p99 < 0.5 * one-node.handoff.p99", results.Pass, []string{"predecessor@32: 1.00 ms < 5.00 ms: pass"}},
		{"predecessor.handoff.p99 < 0.05 * one-node.handoff.p99", results.Fail, []string{"predecessor@32: 1.00 ms < 500 µs: fail"}},
		{"predecessor.handoff.p99 < 2 * handoff.p50", results.Fail, []string{"predecessor@32: 1.00 ms < 1.00 ms: fail"}},
		{"predecessor.acquire.p99<5ms", results.Invalid, []string{"predecessor@32: n/a < 5.00 ms: invalid: too few observations"}},
		{"predecessor.handoff.p99 < one-node.acquire.p99", results.Invalid, []string{"predecessor@32: 1.00 ms < n/a: invalid: lock/one-node, 32 clients, native: too few observations"}},
		{"predecessor.read_write_ratio>9", results.Invalid, []string{"predecessor@32: n/a > 9: invalid: the run has no such figure"}},
	} {
		lines, v := judged(t, c.text, f, nil)
		if diff := cmp.Diff(c.lines, lines); diff != "" || v != c.verdict {
			t.Errorf("%s: %s (-want +got):\n%s", c.text, v, diff)
		}
	}
}

// TestDoubts checks that doubts make figures that depend on time invalid where the true value could give
// another verdict, and only there, and leave counts unaffected. A hand-off took 1 ms, 500 times a second.
func TestDoubts(t *testing.T) {
	for _, c := range []struct {
		kind, text string
		verdict    results.Verdict
	}{
		{"cpu-client-bound", "handoff.p99<5ms", results.Pass}, {"cpu-client-bound", "handoff.p99<5us", results.Invalid},
		{"cpu-starved", "handoff.p99<=5ms", results.Pass}, {"cpu-starved", "handoff.p99<=5us", results.Invalid},
		{"cpu-stolen", "handoff.p99>5us", results.Invalid}, {"cpu-stolen", "handoff.p99>5ms", results.Fail}, // at most too long
		{"cpu-others", "handoff.p99>=5us", results.Invalid}, {"cpu-others", "handoff.p99>=5ms", results.Fail},
		{"cpu-client-bound", "rounds_per_s>5", results.Pass}, {"cpu-client-bound", "rounds_per_s>5000", results.Invalid},
		{"cpu-stolen", "rounds_per_s<5000", results.Invalid}, {"cpu-stolen", "rounds_per_s<5", results.Fail}, // at most too few
		{"behind", "handoff.p99<5ms", results.Invalid}, {"behind", "handoff.p99<5us", results.Invalid},
		{"cpu-client-bound", "whole.notifications_per_round<=1", results.Pass}, {"cpu-client-bound", "whole.notifications_per_round<1", results.Fail},
		{"cpu-client-bound", "generator.cpu_cores<1", results.Pass},
		{"skipped", "handoff.p99<5ms", results.Invalid}, {"unfinished", "handoff.p99<5ms", results.Invalid},
		{"failed", "handoff.p99<5ms", results.Invalid}, {"failed", "handoff.p99<5us", results.Fail},
		{"skipped", "handoff.p99<5us", results.Fail}, // true times are at least as long as the measured ones
		{"skipped", "handoff.p99>5us", results.Pass}, {"skipped", "handoff.p99>5ms", results.Invalid},
		{"skipped", "rounds_per_s>5", results.Pass}, {"skipped", "rounds_per_s>5000", results.Fail}, // what was done was done
		{"skipped", "whole.notifications_per_round<=1", results.Pass},
		{"abandoned", "whole.notifications_per_round<=1", results.Invalid}, {"abandoned", "safety.violations==0", results.Pass},
		{"bystanders", "handoff.p99<5ms", results.Pass}, {"bystanders", "background.read.p99<5ms", results.Invalid},
	} {
		r := herding("predecessor", 32)
		one := int64(1)
		r.Background = &results.Background{ReadRatio: results.ReadRatio{Asked: 1}, Latency: map[string]results.Latency{"read": {Response: &results.Distribution{P99: &one}}}}
		r.Doubts = []results.Warning{{Code: c.kind, Text: "why"}}
		lines, v := judged(t, c.text, file(r), nil)
		if v != c.verdict || v == results.Invalid && !strings.HasSuffix(lines[0], ": why") {
			t.Errorf("%s, %s: %s, %q; want %s", c.kind, c.text, v, lines, c.verdict)
		}
	}
}

// TestSkippedArrivals checks every kind of figure of a run of which 72 of 400 arrivals were skipped: its 90th percentile
// is infinite, so that it misses any limit, also that of a baseline, and what was counted is what it is.
func TestSkippedArrivals(t *testing.T) {
	ns := func(d time.Duration) *int64 { return (*int64)(&d) }
	slow := herding("predecessor", 4)
	slow.Phases, slow.Rounds, slow.ThroughputPerS, slow.DurationNS = []string{"read"}, 328, 82, 4*time.Second
	slow.Generator = results.Generator{Offered: 400, Completed: 328, Skipped: 72}
	slow.Latency = map[string]results.Latency{"read": {Count: 328,
		Service:  &results.Distribution{Min: 1e5, Mean: 1e6, P50: ns(time.Millisecond), P90: ns(time.Millisecond), Max: 1e7},
		Response: &results.Distribution{Min: 1e5, Mean: 1e7, P50: ns(time.Millisecond), Max: 1e8, Lost: 72}}}
	slow.Doubts = []results.Warning{{Code: metrics.Skipped, Text: "72 of 400 arrivals were not served"}}
	good := slow
	good.Rounds, good.ThroughputPerS, good.Doubts = 400, 100, nil
	good.Generator = results.Generator{Offered: 400, Completed: 400}
	good.Latency = map[string]results.Latency{"read": {Count: 400, Response: &results.Distribution{P50: ns(time.Millisecond), P90: ns(time.Millisecond)}}}
	base := file(good)
	for _, c := range []struct {
		text string
		want results.Verdict
	}{
		{"read.response.p90 < 1s", results.Fail}, {"read.response.p90 > 1s", results.Pass}, {"read.response.p90 <= 2 * read.response.p50", results.Fail},
		{"read.response.p50 <= 2 * read.response.p90", results.Pass}, {"read.response.p90 <= 2 * baseline", results.Fail},
		{"read.response.p90 <= 0.5 * read.response.p99", results.Invalid}, {"read.response.p90 >= 2 * read.response.p99", results.Invalid}, // both are infinite
		{"read.response.p50 < 1h", results.Pass}, {"read.response.p50 < 1ns", results.Fail}, {"read.response.p50 <= 2 * baseline", results.Pass},
		{"read.response.p99 < 1s", results.Fail}, // 400 arrivals are too few for a finite one, but p90 is infinite
		{"read.response.max <= 1s", results.Invalid}, {"read.response.max < 10ms", results.Fail}, {"read.response.mean > 1ms", results.Pass},
		{"read.response.min < 1ms", results.Pass}, {"read.service.p50 < 1s", results.Pass}, {"read.service.max < 1ms", results.Fail},
		{"rounds == 328", results.Pass}, {"rounds < 328", results.Fail}, {"rounds <= 328", results.Pass}, {"rounds_per_s >= 1", results.Pass},
		{"rounds_per_s >= 1000", results.Fail}, {"rounds_per_s >= 0.9 * baseline", results.Regression}, {"generator.skipped == 72", results.Pass},
		{"generator.skipped < 72", results.Fail}, {"rate.achieved >= 0.82", results.Pass}, {"errors == 0", results.Pass},
		{"notifications_per_round <= 1 * baseline", results.Pass}, {"safety.checked >= 1", results.Pass},
	} {
		lines, v := judged(t, c.text, file(slow), &base)
		if v != c.want {
			t.Errorf("%s: %s, %q; want %s", c.text, v, lines, c.want)
		}
	}
	gates, _ := gate.Judge(file(slow), []gate.Threshold{parsed(t, "read.response.p90 < 1s", file(slow))}, nil)
	if g := gates[0]; !g.MeasuredInfinite || g.Measured != nil || g.LimitInfinite || *g.Limit != 1e9 || !strings.Contains(g.Why, "not served") {
		t.Errorf("an infinite percentile is written as %+v", g)
	}
}

// TestDoubtsHaveASize checks that a doubt which says how far times can be wrong voids a verdict within that margin, and no
// other: a hand-off took 1 ms, of which 0.11 ms may not have been the service's.
func TestDoubtsHaveASize(t *testing.T) {
	r := herding("predecessor", 32)
	r.Doubts = []results.Warning{{Code: metrics.Others, Text: "why", Numbers: metrics.Numbers{metrics.LostShare: 0.1, metrics.LongestLate: 1e4}}}
	for text, want := range map[string]results.Verdict{
		"handoff.p99 < 500us": results.Fail, "handoff.p99 < 950us": results.Invalid, "handoff.p99 < 1.1ms": results.Pass,
		"rounds_per_s >= 600": results.Fail, "rounds_per_s >= 550": results.Invalid, "rounds_per_s >= 500": results.Pass,
		"handoff.p99 <= 0.5 * baseline": results.Invalid, // the baseline's own doubt has none
	} {
		base := file(herding("predecessor", 32))
		base.Runs[0].Doubts = []results.Warning{{Code: metrics.Behind, Text: "base"}}
		if lines, v := judged(t, text, file(r), &base); v != want {
			t.Errorf("%s: %s, %q; want %s", text, v, lines, want)
		}
	}
}

// TestDoubtsOfThePartner checks that the run that a figure is compared with must have been measured
// well, too, where its true value could give another verdict.
func TestDoubtsOfThePartner(t *testing.T) {
	for _, c := range []struct {
		code, text string
		want       results.Verdict
	}{
		{"cpu-stolen", "predecessor.handoff.p99 < 0.5 * one-node.handoff.p99", results.Invalid},
		{"cpu-stolen", "predecessor.handoff.p99 < 0.05 * one-node.handoff.p99", results.Fail}, // the limit can only be lower
		{"unfinished", "predecessor.handoff.p99 < 0.5 * one-node.handoff.p99", results.Pass},  // the limit can only be higher
		{"unfinished", "predecessor.handoff.p99 < 0.05 * one-node.handoff.p99", results.Invalid},
	} {
		naive := herding("one-node", 32)
		naive.Doubts = []results.Warning{{Code: c.code, Text: "CPU steal 6 %"}}
		lines, v := judged(t, c.text, file(herding("predecessor", 32), naive), nil)
		if v != c.want || v == results.Invalid && !strings.HasSuffix(lines[0], ": CPU steal 6 %") {
			t.Errorf("%s, %s: %s, %q", c.code, c.text, v, lines)
		}
	}
}

// TestViolations checks that a safety violation voids the numbers, also for a threshold that they
// would meet, and that it decides even without thresholds.
func TestViolations(t *testing.T) {
	r := herding("predecessor", 32)
	r.Safety.Violations = 2
	for _, text := range []string{"safety.violations==0", "handoff.p99<5ms"} {
		if lines, v := judged(t, text, file(r), nil); v != results.Fail || !strings.Contains(lines[0], "fail: the form violated safety") {
			t.Errorf("%s: %s, %q", text, v, lines)
		}
	}
	// One that asks for violations is met, and the run fails all the same.
	if lines, v := judged(t, "safety.violations>=1", file(r), nil); v != results.Fail || !strings.Contains(lines[0], "pass") {
		t.Errorf("violations that are asked for: %s, %q", v, lines)
	}
	if lines, v := judged(t, "one-node.handoff.p99 > 2 * predecessor.handoff.p99", file(r, herding("one-node", 32)), nil); v != results.Fail {
		t.Errorf("held against void numbers: %s, %q", v, lines)
	}
	if _, v := gate.Judge(file(r), nil, nil); v != results.Fail {
		t.Errorf("nothing asked: %s", v)
	}
}

// TestTheWorstDecides checks that the worst of several verdicts decides.
func TestTheWorstDecides(t *testing.T) {
	broken := herding("predecessor", 32)
	broken.Cost.Expected = &results.Expected{Identities: []results.Identity{{Holds: false}}}
	base := file(herding("predecessor", 32))
	base.Host.CPU = "another"
	f := file(broken)
	var all []gate.Threshold
	for _, c := range []struct {
		text string
		want results.Verdict
	}{
		{"handoff.p99<5ms", results.Regression}, // because of the violated identity
		{"handoff.p99<=2*baseline", results.Regression},
		{"handoff.p99<5us", results.Fail},
	} {
		th, err := gate.Parse(c.text, "", gate.Rows(f.Runs))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, th)
		if _, v := gate.Judge(f, all, &base); v != c.want {
			t.Errorf("with %s it is %s, want %s", c.text, v, c.want)
		}
	}
	if v := results.Worst(results.Invalid, results.Inconclusive, results.Pass, results.Improvement); v != results.Invalid {
		t.Errorf("the worst is %s", v)
	}
	if v := results.Worst(results.Invalid, results.Fail, results.Regression); v != results.Fail {
		t.Errorf("the worst is %s", v)
	}
}

// TestNoRunIsNoPass checks that a threshold for a form that was skipped does not pass.
func TestNoRunIsNoPass(t *testing.T) {
	both := file(herding("predecessor", 32), herding("one-node", 32))
	th, err := gate.Parse("one-node.handoff.p99<50ms", "", gate.Rows(both.Runs))
	if err != nil {
		t.Fatal(err)
	}
	gates, v := gate.Judge(file(both.Runs[0]), []gate.Threshold{th}, nil)
	want := []results.Gate{{Text: "one-node.handoff.p99<50ms", Subject: "no run", Run: -1, Figure: "handoff.response.p99", Unit: "ns", Op: "<",
		Verdict: results.Invalid, Why: "no run that it is about was done"}}
	if diff := cmp.Diff(want, gates); diff != "" || v != results.Invalid {
		t.Errorf("%s (-want +got):\n%s", v, diff)
	}
}
