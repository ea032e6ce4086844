package document_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/internal/golden"
	"github.com/stampede-bench/stampede/metrics/observe"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/results/gate"
	"github.com/stampede-bench/stampede/results/render"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// observed is an observation of a lock on one node and of a queue.
func observed() observe.Report { return resulttest.Observation().Observed }

func judged(t *testing.T, thresholds ...string) (gates []results.Gate, verdict results.Verdict) {
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

func TestText(t *testing.T) {
	f := results.Observation{Backend: "zookeeper://zk1:2181", Source: "proxy", Observed: observed(), Projected: 1000}
	f.Gates, f.Verdict = judged(t, "/controller: fanout.max <= 5")
	program, exit := "go", 0
	f.Program, f.Exit = &program, &exit
	var b bytes.Buffer
	if err := render.WriteText(&b, f, render.Options{}); err != nil {
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
	if err := render.WriteText(&b, f, render.Options{Color: true}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\x1b[1mHERD: one change of /controller wakes up to 23 of 24 sessions.\x1b[0m\n",
		" \x1b[1;32mpass\x1b[0m\n", " \x1b[1;31mfail\x1b[0m\n", " \x1b[1;33minvalid\x1b[0m\n",
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
	got := strings.Join(document.New(results.Observation{Observed: r}).Findings, "\n")
	if want := "NOT KNOWN: one change of /controller wakes up to 23 of 24 sessions; its form is not recognised."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
