package gate_test

import (
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/gate"
	"github.com/stampede-bench/stampede/results/resulttest"
)

func judgedPaths(t *testing.T, thresholds ...string) (gates []results.Gate, verdict results.Verdict) {
	t.Helper()
	var all []gate.PathThreshold
	for _, text := range thresholds {
		one, err := gate.ParsePath(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	return gate.JudgePaths(all, resulttest.Observation())
}

func TestPathThresholds(t *testing.T) {
	for text, want := range map[string]results.Verdict{
		"fanout.max <= 23":                 results.Pass,
		"fanout.max <= 22":                 results.Fail,
		"/controller: fanout.max<=5":       results.Fail,
		"/locks/#/lock-#: fanout.max <= 1": results.Pass,
		"/locks/*/*: wasted < 1%":          results.Pass,
		"/controller: wasted <= 0.5":       results.Fail,
		"/controller: settled.p90 < 100ms": results.Pass,
		"/locks/#/lock-#: settled.p90<1s":  results.Invalid, // not known
		"/controler: fanout.max <= 5":      results.Invalid, // mistyped: must not pass
		"changes >= 7":                     results.Fail,    // of the place that is furthest from it
	} {
		gates, verdict := judgedPaths(t, text)
		if verdict != want {
			t.Errorf("%s: got %s (%+v), want %s", text, verdict, gates, want)
		}
	}
}

func TestInvalidPathThresholds(t *testing.T) {
	for text, want := range map[string]string{
		"fanout.max":              `threshold "fanout.max": want METRIC < LIMIT`,
		"fanout.mx <= 5":          `did you mean "fanout.max"?`,
		"/a fanout.max <= 5":      "want a colon after the path pattern",
		"/[: fanout.max <= 5":     "is no path pattern",
		"fanout.max <= many":      `fanout.max "many": want a number such as 3`,
		"settled.p90 <= 5 apples": `settled.p90 "5 apples": want a duration such as 50ms`,
	} {
		if _, err := gate.ParsePath(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error that says %q", text, err, want)
		}
	}
}

// Traffic that was not analysed can only add to counts: it voids a count within its limit, and not one beyond.
func TestPathThresholdsOfPartialTraffic(t *testing.T) {
	o := resulttest.Observation()
	o.Dropped = 100
	for text, want := range map[string]results.Verdict{
		"fanout.max <= 23":             results.Invalid,
		"fanout.max <= 22":             results.Fail,
		"/controller: fanout.max >= 5": results.Pass,
		"/controller: wasted <= 0.5":   results.Invalid,
	} {
		threshold, err := gate.ParsePath(text)
		if err != nil {
			t.Fatal(err)
		}
		if gates, verdict := gate.JudgePaths([]gate.PathThreshold{threshold}, o); verdict != want {
			t.Errorf("%s: %s (%+v), want %s", text, verdict, gates, want)
		}
	}
}
