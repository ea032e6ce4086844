package results

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/internal/golden"
)

// asked returns a gate on the run with the given index.
func asked(text, figure, unit, op string, run int, measured, limit float64, v Verdict, why string) Gate {
	return Gate{Text: text, Run: run, Subject: fmt.Sprint("run ", run), Figure: figure, Unit: unit, Op: op, Measured: &measured, Limit: &limit, Verdict: v, Why: why}
}

// The golden files are what a user of thresholds sees first; read one before you accept a new version.
func TestJudgement(t *testing.T) {
	const notif, safe = "lock.notifications_per_round <= 1.05", "*.safety.violations == 0"
	met := func(n int) (all []Gate) {
		for i := range n {
			all = append(all, asked(safe, "safety.violations", "", "==", i, 0, 0, Pass, ""))
		}
		return all
	}
	unknown := asked("predecessor.handoff.p999 < 0.5 * one-node.handoff.p999", "handoff.response.p999", "ns", "<", 0, 0, 0, Invalid, "too few observations")
	unknown.Measured, unknown.Limit = nil, nil
	nobody := Gate{Text: "library.rounds_per_s >= 0.8 * baseline", Run: -1, Subject: "no run", Figure: "rounds_per_s", Unit: "/s", Op: ">=", Verdict: Invalid, Why: "no run that it is about was done"}
	inScenario := asked("handoff.p99 < 5ms", "handoff.response.p99", "ns", "<", 0, 401_000, 5e6, Pass, "")
	inScenario.Scenario = "hand-over"
	for name, c := range map[string]struct {
		gates   []Gate
		verdict Verdict
	}{
		"pass": {append(met(4), inScenario,
			asked("rounds_per_s >= 0.8 * baseline", "rounds_per_s", "/s", ">=", 0, 870, 800, Pass, ""),
			asked("rounds_per_s >= 0.8 * baseline", "rounds_per_s", "/s", ">=", 1, 650, 640, Pass, "")), Pass},
		"failed": {append(met(4), asked(notif, "notifications_per_round", "/round", "<=", 0, 1, 1.05, Pass, ""),
			asked(notif, "notifications_per_round", "/round", "<=", 1, 99.1, 1.05, Failed, ""),
			asked("wasted < 10%", "wasted", "share", "<", 1, 0.99, 0.1, Failed, "")), Failed},
		"invalid":      {append(met(4), unknown, nobody), Invalid},
		"inconclusive": {append(met(4), asked("handoff.p99 <= baseline", "handoff.response.p99", "ns", "<=", 0, 1e6, 1e6, Inconclusive, "the baseline has no such run")), Inconclusive},
		"regression":   {append(met(4), asked("bytes_in_per_round <= 1.05 * baseline", "bytes_in_per_round", "B", "<=", 0, 3000, 2048, Regression, "")), Regression},
		"identity":     {met(4), Regression},
		"violated":     {[]Gate{asked(safe, "safety.violations", "", "==", 1, 3, 0, Violated, "the form broke its promise")}, Violated},
		"many": {func() (all []Gate) {
			for i := range 9 {
				all = append(all, asked("handoff.p99 < 5ms", "handoff.response.p99", "ns", "<", i%4, 1e6, 5e6, Invalid, "time stolen: other machines had 0.20 of the 2 cores; times are too long"))
			}
			return all
		}(), Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			f := file(herding(native())...)
			f.Gates, f.Verdict = c.gates, c.verdict
			var b strings.Builder
			f.judgement(&b, TableOptions{})
			golden.Compare(t, "testdata/gates-"+name+".txt", []byte(b.String()))
		})
	}
}

// The verdict and the thresholds come before the finding.
func TestJudgementComesFirst(t *testing.T) {
	f := file(herding(native())...)
	f.Gates, f.Verdict = []Gate{asked("errors == 0", "errors", "", "==", 0, 0, 0, Pass, "")}, Pass
	var b strings.Builder
	if err := f.WriteTable(&b, TableOptions{}); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	decided, found, table := strings.Index(text, "PASS: the threshold is met."), strings.Index(text, "a release wakes"), strings.Index(text, "rounds/s")
	if decided < 0 || !(decided < found && found < table) {
		t.Errorf("verdict at %d, finding at %d, table at %d:\n%s", decided, found, table, text)
	}
}
