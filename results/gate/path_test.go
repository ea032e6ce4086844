package gate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/metrics/observation"
	"github.com/stampede-bench/stampede/metrics/pathname"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/gate"
	"github.com/stampede-bench/stampede/results/resulttest"
)

func parsedPath(t *testing.T, text string) gate.PathThreshold {
	t.Helper()
	threshold, err := gate.ParsePath(text)
	if err != nil {
		t.Fatal(err)
	}
	return threshold
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
		gates, verdict := resulttest.JudgePaths(t, text)
		if verdict != want {
			t.Errorf("%s: got %s (%+v), want %s", text, verdict, gates, want)
		}
	}
}

// TestAChangeAtSeveralPathsIsJudgedAsAWhole has a transaction wake 30 sessions, at most 23 of them at one path: the limit on
// any change sees all of them, and that on a path those which wait there.
func TestAChangeAtSeveralPathsIsJudgedAsAWhole(t *testing.T) {
	o := resulttest.Observation()
	o.Observed.Traffic.FanoutMax = 30
	for text, want := range map[string]results.Verdict{
		"fanout.max <= 29":              results.Fail,
		"fanout.max <= 30":              results.Pass,
		"fanout.max >= 2":               results.Fail, // of the path that is furthest from it
		"/controller: fanout.max <= 23": results.Pass,
	} {
		gates, verdict := gate.JudgePaths([]gate.PathThreshold{parsedPath(t, text)}, o)
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
		": fanout.max <= 5":       "want a path pattern before the colon",
		"svc: fanout.mx <= 5":     `unknown metric "fanout.mx": did you mean "fanout.max"?`,
		"a: b: herds <= 5":        `unknown metric "herds"`,
		"svc fanout.max <= 5":     `did you mean "fanout.max"?`,
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
		threshold := parsedPath(t, text)
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
		threshold := parsedPath(t, text)
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
		threshold := parsedPath(t, text)
		if gates, verdict := gate.JudgePaths([]gate.PathThreshold{threshold}, o); verdict != want {
			t.Errorf("%s: %s (%+v), want %s", text, verdict, gates, want)
		}
	}
}

// TestUnjoinedNotificationsVoidWhatTheyLedTo has notifications by connections that nothing joins to what their clients
// did next.
func TestUnjoinedNotificationsVoidWhatTheyLedTo(t *testing.T) {
	o := resulttest.Observation()
	o.Observed.Traffic.Unjoined = 138
	for i := range o.Observed.Places {
		o.Observed.Places[i].Unjoined, o.Observed.Places[i].Useful, o.Observed.Places[i].Wasted = 138, nil, nil
	}
	for text, want := range map[string]results.Verdict{
		"fanout.max <= 23":           results.Pass,
		"notifications <= 138":       results.Pass,
		"notifications <= 137":       results.Fail,
		"herds <= 0":                 results.Invalid,
		"herds <= 9":                 results.Invalid,
		"wasted <= 100%":             results.Invalid,
		"settled.p90 < 1s":           results.Invalid,
		"event.notifications <= 999": results.Invalid,
		"event.requests <= 999":      results.Invalid,
		"rest.requests_per_s < 99/s": results.Invalid,
	} {
		threshold := parsedPath(t, text)
		gates, verdict := gate.JudgePaths([]gate.PathThreshold{threshold}, o)
		if verdict != want || want == results.Invalid && gates[0].Why != o.Unjoined() && !strings.HasSuffix(gates[0].Why, ": "+o.Unjoined()) {
			t.Errorf("%s: %s (%+v), want %s", text, verdict, gates, want)
		}
	}
}

// TestUndecidedPlacesMayBeHerds has a place whose changes wake most of its watchers, and it is not known what they wait
// for: it may be a herd or not.
func TestUndecidedPlacesMayBeHerds(t *testing.T) {
	o := resulttest.Observation()
	known := len(o.Observed.Herds())
	o.Observed.Places = append(o.Observed.Places, observation.Place{Path: "/kept", Sessions: 4, FanoutMax: 3, Changes: 2, Notifications: 6})
	for text, want := range map[string]results.Verdict{
		fmt.Sprintf("herds <= %d", known):   results.Invalid,
		fmt.Sprintf("herds <= %d", known-1): results.Fail,
		fmt.Sprintf("herds == %d", known):   results.Invalid,
		fmt.Sprintf("herds == %d", known-1): results.Fail,
		"/kept: fanout.max <= 3":            results.Pass,
	} {
		threshold := parsedPath(t, text)
		gates, verdict := gate.JudgePaths([]gate.PathThreshold{threshold}, o)
		if verdict != want || want == results.Invalid && !strings.Contains(gates[0].Why, "/kept") {
			t.Errorf("%s: %s (%+v), want %s", text, verdict, gates, want)
		}
	}
}

// TestAWatchThatStoodOverAChangeMayHaveBeenMissed judges watches of which it is not known whether they were told: a limit
// above all of them holds, and one that is not met is not met all the more.
func TestAWatchThatStoodOverAChangeMayHaveBeenMissed(t *testing.T) {
	o := resulttest.Observation()
	missed := int64(0)
	o.Observed.Traffic.Audited, o.Observed.Traffic.Missed, o.Observed.Traffic.Unproven = 1, 0, 3
	for i := range o.Observed.Places {
		o.Observed.Places[i].Missed = &missed
	}
	at := &o.Observed.Places[0]
	at.Unproven = 3
	for text, want := range map[string]results.Verdict{
		"watches.missed <= 0":               results.Invalid,
		at.Path + ": watches.missed <= 0":   results.Invalid,
		"watches.missed >= 1":               results.Invalid,
		at.Path + ": fanout.max <= 1000000": results.Pass,
	} {
		gates, verdict := gate.JudgePaths([]gate.PathThreshold{parsedPath(t, text)}, o)
		if verdict != want || want == results.Invalid && !strings.Contains(gates[0].Why, at.Path) {
			t.Errorf("%s: %s (%+v), want %s", text, verdict, gates, want)
		}
	}
	missed, o.Observed.Traffic.Missed = 1, 1
	if gates, verdict := gate.JudgePaths([]gate.PathThreshold{parsedPath(t, "watches.missed <= 0")}, o); verdict != results.Fail {
		t.Errorf("one missed and three in doubt: %s (%+v), want fail", verdict, gates)
	}
}

// TestASessionThatIsNotJudgedMayHaveBeenPassed judges by sessions that watched while they were not audited, and by connections
// that are older than the observation.
func TestASessionThatIsNotJudgedMayHaveBeenPassed(t *testing.T) {
	for name, unjudged := range map[string]func(*observation.Traffic){
		"sessions": func(tr *observation.Traffic) { tr.Unjudged = 2 },
		"joined":   func(tr *observation.Traffic) { tr.Joined = 2 },
	} {
		o := resulttest.Observation()
		missed := int64(0)
		o.Observed.Traffic.Audited = 1
		for i := range o.Observed.Places {
			o.Observed.Places[i].Missed = &missed
		}
		unjudged(&o.Observed.Traffic)
		for text, want := range map[string]results.Verdict{"watches.missed <= 0": results.Invalid, "watches.missed >= 1": results.Invalid, "fanout.max <= 1000000": results.Pass} {
			if gates, verdict := gate.JudgePaths([]gate.PathThreshold{parsedPath(t, text)}, o); verdict != want {
				t.Errorf("%s, %s: %s (%+v), want %s", name, text, verdict, gates, want)
			}
		}
	}
}

// TestAbsentFigures checks that a figure without a value says why, and not that of another figure.
func TestAbsentFigures(t *testing.T) {
	o := resulttest.Observation()
	for i := range o.Observed.Places {
		p := &o.Observed.Places[i]
		p.Missed, p.Unasked, p.Wasted, p.SettledP90, p.LatencyP90, p.Changes = nil, nil, nil, nil, nil, 0
	}
	for name, want := range map[string]string{
		"watches.missed <= 0": "ZooKeeper", "notifications.unasked <= 0": "ZooKeeper", "wasted <= 1": "not clear what the sessions wait for",
		"settled.p90 < 1s": "percentile", "latency.p90 < 1s": "percentile", "requests_per_change <= 1": "no change",
	} {
		threshold := parsedPath(t, name)
		if g, v := gate.JudgePaths([]gate.PathThreshold{threshold}, o); v != results.Invalid || !strings.Contains(g[0].Why, want) {
			t.Errorf("%s: %s because %q, want %q", name, v, g[0].Why, want)
		}
	}
}

// TestThresholdsOfWholeObservations checks figures that only a whole observation has, names that a table has shortened,
// and paths that nobody watched: what was not watched passes no condition on watches.
func TestThresholdsOfWholeObservations(t *testing.T) {
	long := "/services/" + strings.Repeat("orders-", 8) + "A/members"
	o := resulttest.Observation()
	o.Observed.Churn.Opened = 24
	o.Observed.Places = append(o.Observed.Places, observation.Place{Path: "/unwatched", Requests: 1956, Writes: 1956, FailedWrites: 1856},
		observation.Place{Path: long, Sessions: 5, FanoutMax: 2, Changes: 1, Notifications: 2})
	useful, none := int64(2), int64(0)
	unknown := o
	unknown.Observed.Places = slices.Clone(o.Observed.Places)
	o.Observed.Places[len(o.Observed.Places)-1].Useful, o.Observed.Places[len(o.Observed.Places)-1].Wasted = &useful, &none
	herds := parsedPath(t, "herds <= 1")
	if gates, verdict := gate.JudgePaths([]gate.PathThreshold{herds}, unknown); verdict != results.Invalid {
		t.Errorf("two sessions of five were woken for it is not known what: herds <= 1 is %s (%+v), want invalid", verdict, gates)
	}
	short := pathname.Elide([]string{long, strings.Replace(long, "-A/", "-B/", 1)}, 32)[long]
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
		threshold := parsedPath(t, text)
		if gates, verdict := gate.JudgePaths([]gate.PathThreshold{threshold}, o); verdict != want {
			t.Errorf("%s: %s (%+v), want %s", text, verdict, gates, want)
		}
	}
	if _, err := gate.ParsePath("/controller: herds <= 0"); err == nil {
		t.Error("a path has no herds, want an error")
	}
}

// TestEveryShownNameIsAPath judges keys of etcd, which may be any text, by the names that the table shows.
func TestEveryShownNameIsAPath(t *testing.T) {
	names := []string{"svc", "svc/web", "a: b", "a: fanout.max <= 3: b", "k=v", " x ", "[", `a\b`, `a\x0ab`, "lock:#", "others"}
	o := resulttest.Observation()
	o.Observed.Places = nil
	for i, name := range names {
		o.Observed.Places = append(o.Observed.Places, observation.Place{Path: name, Sessions: 9, Notifications: int64(10 + i)})
	}
	for i, name := range names {
		for limit, want := range map[int]results.Verdict{10 + i: results.Pass, 9 + i: results.Fail} {
			threshold, err := gate.ParsePath(fmt.Sprintf("%s: notifications <= %d", name, limit))
			if err != nil {
				t.Error(err)
				continue
			}
			gates, verdict := gate.JudgePaths([]gate.PathThreshold{threshold}, o)
			if verdict != want || gates[0].Subject != name {
				t.Errorf("%q <= %d: %+v, want %s", name, limit, gates, want)
			}
		}
	}
	for pattern, want := range map[string]string{"svc/*": "svc/web", "s?c": "svc", "other*": "others", "no": ""} {
		threshold, err := gate.ParsePath(pattern + ": notifications <= 1000")
		if err != nil {
			t.Error(err)
			continue
		}
		if gates, _ := gate.JudgePaths([]gate.PathThreshold{threshold}, o); gates[0].Subject != want {
			t.Errorf("%s: %+v, want %q", pattern, gates, want)
		}
	}
}

// TestSumOfAllPathsIsNoPath judges an observation whose paths are all too long to be followed: their sum is not the
// figure of one path, and what it is cannot be known.
func TestSumOfAllPathsIsNoPath(t *testing.T) {
	o := resulttest.Observation()
	o.Observed.Places = nil
	o.Observed.Traffic.Requests, o.Observed.Traffic.Notifications, o.Observed.Traffic.Changes = 13, 5, 0
	for text, want := range map[string]results.Verdict{
		"requests <= 8": results.Invalid, "notifications <= 4": results.Invalid, "requests >= 1": results.Invalid,
		"fanout.max <= 2": results.Invalid, "herds == 0": results.Invalid,
	} {
		o.Observed.Traffic.Undecoded = []traffic.Undecoded{{Cause: traffic.LongPaths, Bytes: 9000, Connections: 6}}
		threshold := parsedPath(t, text)
		if gates, verdict := gate.JudgePaths([]gate.PathThreshold{threshold}, o); verdict != want {
			t.Errorf("%s: %s (%+v), want %s", text, verdict, gates, want)
		}
	}
}
