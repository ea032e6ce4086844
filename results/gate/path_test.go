package gate_test

import (
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/metrics/observe"
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
	o.Observed.Traffic.Undecoded = []traffic.Undecoded{{Cause: traffic.Late, Bytes: 100}}
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

// TestEachCauseVoidsWhatItCouldChange has traffic that was not decoded for each cause there is. A count
// within its limit is then invalid and never passes, one beyond it still fails, and what is on either side
// is invalid. Harmless causes change nothing, as no cause does.
func TestEachCauseVoidsWhatItCouldChange(t *testing.T) {
	judged := func(o results.Observation, text string) (results.Verdict, string) {
		threshold, err := gate.ParsePath(text)
		if err != nil {
			t.Fatal(err)
		}
		gates, verdict := gate.JudgePaths([]gate.PathThreshold{threshold}, o)
		return verdict, gates[0].Why
	}
	for _, cause := range append(traffic.Causes(), "") {
		o := resulttest.Observation()
		if cause != "" {
			o.Observed.Traffic.Undecoded = []traffic.Undecoded{{Cause: cause, Bytes: 1, Connections: 1}}
		}
		complete := cause == "" || cause.Harmless()
		for text, want := range map[string]struct {
			whole      results.Verdict
			incomplete results.Verdict
		}{
			"fanout.max <= 23":           {results.Pass, results.Invalid},
			"fanout.max == 23":           {results.Pass, results.Invalid},
			"fanout.max <= 22":           {results.Fail, results.Fail},
			"/controller: changes >= 6":  {results.Pass, results.Pass},
			"/controller: changes >= 7":  {results.Fail, results.Invalid},
			"/controller: wasted <= 0.5": {results.Fail, results.Invalid},
			"fanout.p50 <= 22":           {results.Fail, results.Invalid},
			"event.requests <= 156":      {results.Pass, results.Invalid},
			"event.notifications <= 26":  {results.Fail, results.Invalid},
			"rest.requests_per_s < 5/s":  {results.Fail, results.Invalid},
		} {
			expected := want.incomplete
			if complete {
				expected = want.whole
			}
			got, why := judged(o, text)
			if got != expected || got == results.Invalid && !strings.Contains(why, cause.Description()) {
				t.Errorf("%s, %s: %s (%s), want %s", cause, text, got, why, expected)
			}
		}
	}
}

// TestOlderConnectionsVoidWhatStands has connections that are older than the capture and were decoded.
// What changes cause is counted whole; what stands, and what sessions waited for, is not known.
func TestOlderConnectionsVoidWhatStands(t *testing.T) {
	o := resulttest.Observation()
	o.Observed.Traffic.Joined = 3
	for text, want := range map[string]results.Verdict{
		"fanout.max <= 23":              results.Pass,
		"fanout.p50 <= 23":              results.Pass,
		"notifications <= 138":          results.Pass,
		"watches <= 100":                results.Invalid,
		"sessions <= 24":                results.Invalid,
		"sessions <= 23":                results.Fail,
		"/controller: wasted <= 0.5":    results.Invalid,
		"/controller: settled.p90 < 1s": results.Invalid,
		"event.requests <= 156":         results.Invalid,
		"rest.requests_per_s < 6/s":     results.Invalid,
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

// TestThresholdsOfWholeObservations checks figures that only a whole observation has, names that a table has shortened,
// and paths that nobody watched: what was not watched passes no condition on watches.
func TestThresholdsOfWholeObservations(t *testing.T) {
	long := "/services/" + strings.Repeat("orders-", 8) + "A/members"
	o := resulttest.Observation()
	o.Observed.Churn.Opened = 24
	o.Observed.Places = append(o.Observed.Places, observe.Place{Path: "/unwatched", Requests: 1956, Writes: 1956, FailedWrites: 1856},
		observe.Place{Path: long, Sessions: 2, FanoutMax: 2, Changes: 1, Notifications: 2})
	short := observe.Elide([]string{long, strings.Replace(long, "-A/", "-B/", 1)}, 32)[long]
	for text, want := range map[string]results.Verdict{
		"herds <= 0":                       results.Fail,
		"herds <= 1":                       results.Pass,
		"sessions.opened <= 24":            results.Pass,
		"sessions.opened < 24":             results.Fail,
		"/unwatched: failed_writes <= 100": results.Fail,
		"failed_writes <= 1856":            results.Pass,
		"/unwatched: fanout.max <= 2":      results.Invalid,
		"/unwatched: watches <= 2":         results.Invalid,
		short + ": fanout.max <= 2":        results.Pass,
		short + ": fanout.max <= 1":        results.Fail,
		"/serv…/mambers: fanout.max <= 1":  results.Invalid,
	} {
		threshold, err := gate.ParsePath(text)
		if err != nil {
			t.Fatal(err)
		}
		if gates, verdict := gate.JudgePaths([]gate.PathThreshold{threshold}, o); verdict != want {
			t.Errorf("%s: %s (%+v), want %s", text, verdict, gates, want)
		}
	}
	if _, err := gate.ParsePath("/controller: herds <= 0"); err == nil {
		t.Error("a path has no herds, want an error")
	}
}
