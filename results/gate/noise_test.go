package gate_test

import (
	"testing"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/gate"
)

// TestExcuse checks that a figure that exceeds its limit by no more than the noise floor is
// inconclusive. Larger excesses, counts, and figures without a calibration are unchanged.
func TestExcuse(t *testing.T) {
	at := func(figure string, measured, limit float64, v results.Verdict) results.Gate {
		return results.Gate{Figure: figure, Measured: &measured, Limit: &limit, Verdict: v}
	}
	gates := []results.Gate{
		at("handoff.response.p99", 1.1, 1, results.Regression),
		at("handoff.response.p99", 1.3, 1, results.Regression),
		at("rounds_per_s", 1, 1.1, results.Regression),
		at("rounds_per_s", 1, 1.3, results.Regression),
		at("notifications_per_round", 1.1, 1, results.Regression),
		at("handoff.response.p50", 1.1, 1, results.Regression),
		at("handoff.response.p99", 1.1, 1, results.Fail),
		{Figure: "handoff.response.p99", Run: -1, Verdict: results.Regression},
	}
	runs := []results.Run{{Recipe: "lock", Phases: []string{"handoff"}}}
	gate.Excuse(gates, runs, func(r results.Run, figure string) (float64, string) {
		if figure == "handoff.response.p50" || r.Recipe != "lock" {
			return 0, ""
		}
		return 0.2, "20 A/A pairs, 2h old"
	})
	const r, i = results.Regression, results.Inconclusive
	for n, want := range []results.Verdict{i, r, i, r, r, r, results.Fail, r} {
		if gates[n].Verdict != want {
			t.Errorf("gate %d, %s: %s, want %s", n, gates[n].Figure, gates[n].Verdict, want)
		}
	}
	if want := "beyond by 10.0 %, which may be noise: 20 A/A pairs, 2h old"; gates[0].Why != want {
		t.Errorf("why %q, want %q", gates[0].Why, want)
	}
}
