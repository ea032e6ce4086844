package document_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/internal/golden"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/results/render"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// asked returns a gate on the run with the given index.
func asked(text, figure, unit, op string, run int, measured, limit float64, v results.Verdict, why string) results.Gate {
	return results.Gate{Text: text, Run: run, Subject: fmt.Sprint("run ", run), Figure: figure, Unit: unit, Op: op, Measured: &measured, Limit: &limit, Verdict: v, Why: why}
}

// The golden files are what a user of thresholds sees first; read one before you accept a new version.
func TestJudgement(t *testing.T) {
	const notif, safe = "lock.notifications_per_round <= 1.05", "*.safety.violations == 0"
	met := func(n int) (all []results.Gate) {
		for i := range n {
			all = append(all, asked(safe, "safety.violations", "", "==", i, 0, 0, results.Pass, ""))
		}
		return all
	}
	unknown := asked("predecessor.handoff.p999 < 0.5 * one-node.handoff.p999", "handoff.response.p999", "ns", "<", 0, 0, 0, results.Invalid, "too few observations")
	unknown.Measured, unknown.Limit = nil, nil
	noRun := results.Gate{Text: "library.rounds_per_s >= 0.8 * baseline", Run: -1, Subject: "no run", Figure: "rounds_per_s", Unit: "/s", Op: ">=", Verdict: results.Invalid, Why: "no run that it is about was done"}
	inScenario := asked("handoff.p99 < 5ms", "handoff.response.p99", "ns", "<", 0, 401_000, 5e6, results.Pass, "")
	inScenario.Scenario = "hand-over"
	for name, c := range map[string]struct {
		gates   []results.Gate
		verdict results.Verdict
	}{
		"pass": {append(met(4), inScenario,
			asked("rounds_per_s >= 0.8 * baseline", "rounds_per_s", "/s", ">=", 0, 870, 800, results.Pass, ""),
			asked("rounds_per_s >= 0.8 * baseline", "rounds_per_s", "/s", ">=", 1, 650, 640, results.Pass, "")), results.Pass},
		"fail": {append(met(4), asked(notif, "notifications_per_round", "/round", "<=", 0, 1, 1.05, results.Pass, ""),
			asked(notif, "notifications_per_round", "/round", "<=", 1, 99.1, 1.05, results.Fail, ""),
			asked("wasted < 10%", "wasted", "share", "<", 1, 0.99, 0.1, results.Fail, "")), results.Fail},
		"near": {append(met(4), asked("acquire.p50 <= 5ms", "acquire.response.p50", "ns", "<=", 1, 5_000_400, 5e6, results.Fail, ""),
			asked("notifications_per_round <= 1", "notifications_per_round", "/round", "<=", 1, 772./771, 1, results.Fail, ""),
			asked("rounds_per_s >= 300", "rounds_per_s", "/s", ">=", 1, 299.9, 300, results.Fail, ""),
			asked("machine.busy < 100%", "machine.busy", "share", "<", 1, 0.9996, 1, results.Pass, "")), results.Fail},
		"invalid":      {append(met(4), unknown, noRun), results.Invalid},
		"inconclusive": {append(met(4), asked("handoff.p99 <= baseline", "handoff.response.p99", "ns", "<=", 0, 1e6, 1e6, results.Inconclusive, "the baseline has no such run")), results.Inconclusive},
		"regression":   {append(met(4), asked("bytes_in_per_round <= 1.05 * baseline", "bytes_in_per_round", "B", "<=", 0, 3000, 2048, results.Regression, "")), results.Regression},
		"identity":     {met(4), results.Regression},
		"unsafe":       {[]results.Gate{asked(safe, "safety.violations", "", "==", 1, 3, 0, results.Fail, "the form violated safety")}, results.Fail},
		// A threshold counts once, by its worst verdict; a reason names its runs.
		"mixed": {[]results.Gate{
			asked("handoff.p90 <= 1ms", "handoff.response.p90", "ns", "<=", 0, 4e6, 1e6, results.Fail, ""),
			asked("handoff.p90 <= 1ms", "handoff.response.p90", "ns", "<=", 1, 2e6, 1e6, results.Invalid, "load"),
			asked("errors == 0", "errors", "", "==", 0, 0, 0, results.Pass, ""),
			asked("rounds_per_s > 900/s", "rounds_per_s", "/s", ">", 1, 650, 900, results.Invalid, "load"),
		}, results.Fail},
		"many": {func() (all []results.Gate) {
			for i := range 9 {
				all = append(all, asked("handoff.p99 < 5ms", "handoff.response.p99", "ns", "<", i%4, 1e6, 5e6, results.Invalid, "CPU steal 10 %: latencies are too high"))
			}
			return all
		}(), results.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			f := resulttest.FileOf(resulttest.Herding(resulttest.Native())...)
			f.Gates, f.Verdict = c.gates, c.verdict
			if name == "unsafe" {
				f.Runs[1].Safety.Violations = 3
			}
			text := judgement(t, f, false)
			golden.Compare(t, "testdata/gates-"+name+".txt", []byte(text))
			checkWidth(t, text)
		})
	}
}

// The verdict and the thresholds come before the finding.
func TestJudgementComesFirst(t *testing.T) {
	f := resulttest.FileOf(resulttest.Herding(resulttest.Native())...)
	f.Gates, f.Verdict = []results.Gate{asked("errors == 0", "errors", "", "==", 0, 0, 0, results.Pass, "")}, results.Pass
	text := textOf(t, f, render.Options{})
	decided, found, table := strings.Index(text, "PASS: the threshold is met."), strings.Index(text, "a release wakes"), strings.Index(text, "rounds/s")
	if decided < 0 || !(decided < found && found < table) {
		t.Errorf("verdict at %d, finding at %d, table at %d:\n%s", decided, found, table, text)
	}
}

// The colour is added to the words, and the output for a pipe has none.
func TestVerdictColour(t *testing.T) {
	const green, red, yellow = "32", "31", "33"
	for verdict, code := range map[results.Verdict]string{
		results.Pass: green, results.Improvement: green,
		results.Fail: red, results.Regression: red,
		results.Invalid: yellow, results.Inconclusive: yellow,
	} {
		words := strings.ToUpper(string(verdict)) + ": the threshold is "
		for bold, want := range map[bool]string{false: "  " + words, true: "  \x1b[1;" + code + "m" + words} {
			cell := " " + string(verdict) + "\n"
			if bold {
				cell = " \x1b[1;" + code + "m" + string(verdict) + "\x1b[0m\n"
			}
			text := judgement(t, results.File{Verdict: verdict, Gates: []results.Gate{asked("wasted < 10%", "wasted", "share", "<", 0, 0, 0.1, verdict, "")}}, bold)
			if !strings.HasPrefix(text, want) {
				t.Errorf("%s, bold %v: the decision is %q, want %q first", verdict, bold, text, want)
			}
			if !strings.HasSuffix(text, cell+"\n") {
				t.Errorf("%s, bold %v: the row ends with %q, want %q", verdict, bold, text, cell)
			}
			c := results.Comparison{Changes: []results.Change{{Figure: "rounds_per_s", Verdict: verdict, Gated: true}}}
			text = textOf(t, c, render.Options{Color: bold})
			if !strings.Contains(text, cell) {
				t.Errorf("%s, bold %v: the change is %q, want %q in it", verdict, bold, text, cell)
			}
		}
	}
}

// judgement returns what the terminal shows before the first finding.
func judgement(t *testing.T, f results.File, bold bool) string {
	t.Helper()
	text := textOf(t, f, render.Options{Color: bold})
	_, text, _ = strings.Cut(text, "\n\n")
	finding := "  " + document.New(f).Findings[0]
	if bold {
		finding = "  \x1b[1m" + finding[2:]
	}
	text, _, found := strings.Cut(text, finding)
	if !found {
		t.Fatalf("no finding %q in %s", finding, text)
	}
	return text
}
