package observation_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/internal/golden"
	"github.com/stampede-bench/stampede/metrics/observe"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/observation"
	"github.com/stampede-bench/stampede/results/view"
)

func number(n int64) *int64 { return &n }

// observed is an observation of a lock on one node and of a queue.
func observed() observe.Report {
	return observe.Report{
		Duration: 41 * time.Second,
		Traffic:  observe.Traffic{Clients: 3, Sessions: 24, Requests: 18203, Changes: 46, FanoutP50: 1, FanoutMax: 23},
		Places: []observe.Place{
			{
				Path: "/controller", Sessions: 24, Changes: 6, FanoutP50: 23, FanoutMax: 23, Notifications: 138,
				Useful: number(6), Wasted: number(132), ReadsAfter: 138, LostAfter: 132, SettledP90: number(84e6),
				Form: &observe.Form{
					Name: "lock or election, one node", Forms: []string{"lock/one-node"}, Herd: true, Instead: "predecessor", Wakes: 1,
					Evidence: "24 sessions watch the node and race to create it: 132 of 138 creates failed",
				},
			},
			{Path: "/locks/#/lock-#", Sessions: 20, Changes: 40, FanoutP50: 1, FanoutMax: 1, Notifications: 40, Useful: number(40), Wasted: number(0)},
		},
		Largest:    []observe.Change{{Op: "delete", Writer: "10.0.0.7:4711", Path: "/controller", Woke: 23, Waited: 22, Reads: 23, Lost: 22, Settled: 84 * time.Millisecond}},
		Operations: []observe.Operation{{Name: "create", Requests: 140, P50: number(5e5), P99: number(2e6)}},
	}
}

func judged(t *testing.T, thresholds ...string) (gates []results.Gate, verdict results.Verdict) {
	t.Helper()
	var all []observation.Threshold
	for _, text := range thresholds {
		one, err := observation.ParseThreshold(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	return observation.Judge(all, observed())
}

func TestThresholds(t *testing.T) {
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
		gates, verdict := judged(t, text)
		if verdict != want {
			t.Errorf("%s: got %s (%+v), want %s", text, verdict, gates, want)
		}
	}
}

func TestInvalidThresholds(t *testing.T) {
	for text, want := range map[string]string{
		"fanout.max":              `threshold "fanout.max": want METRIC < LIMIT`,
		"fanout.mx <= 5":          `did you mean "fanout.max"?`,
		"/a fanout.max <= 5":      "want a colon after the path pattern",
		"/[: fanout.max <= 5":     "is no path pattern",
		"fanout.max <= many":      `fanout.max "many": want a number such as 3`,
		"settled.p90 <= 5 apples": `settled.p90 "5 apples": want a duration such as 50ms`,
	} {
		if _, err := observation.ParseThreshold(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error that says %q", text, err, want)
		}
	}
}

func TestText(t *testing.T) {
	f := results.Observation{Backend: "zookeeper://zk1:2181", Source: "proxy", Observed: observed(), Projected: 1000}
	f.Gates, f.Verdict = judged(t, "/controller: fanout.max <= 5")
	program, exit := "go", 0
	f.Program, f.Exit = &program, &exit
	var b bytes.Buffer
	if err := observation.WriteText(&b, f, view.Options{}); err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "testdata/observation.txt", b.Bytes())
	for _, line := range strings.Split(b.String(), "\n") {
		if n := len([]rune(line)); n > 120 {
			t.Errorf("a line of %d characters: %s", n, line)
		}
	}
}

// On a terminal findings are bold, and verdicts of thresholds have their colours.
func TestTextInColour(t *testing.T) {
	f := results.Observation{Observed: observed()}
	f.Gates, f.Verdict = judged(t, "fanout.max <= 23", "fanout.max <= 22", "/controler: fanout.max <= 5")
	var b bytes.Buffer
	if err := observation.WriteText(&b, f, view.Options{Color: true}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\x1b[1mHERD: one change of /controller wakes up to 23 of 24 sessions.\x1b[0m\n",
		"\x1b[1;32mpass\x1b[0m ", "\x1b[1;31mfail\x1b[0m ", "\x1b[1;33minvalid\x1b[0m ",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

// TestUnrecognisedFormsAreNotCalledHarmless checks that a large fan-out of an unknown form is
// reported as not known.
func TestUnrecognisedFormsAreNotCalledHarmless(t *testing.T) {
	r := observed()
	r.Places[0].Form, r.Places[0].Useful, r.Places[0].Wasted = nil, nil, nil
	got := strings.Join(observation.Findings(results.Observation{Observed: r}), "\n")
	if want := "NOT KNOWN: one change of /controller wakes up to 23 of 24 sessions; its form is not recognised."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
