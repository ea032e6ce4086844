package history

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figure"
)

// stepped is a series of 24 results that becomes worse by a fifth at the twelfth.
func stepped(accepted ...Acceptance) *Series {
	s := &Series{Figure: figure.Figure{Name: "rounds_per_s", Better: figure.More, Exactness: figure.Timed}, Acceptances: accepted}
	for i := range 24 {
		value := 1000 + 3*float64(i%4)
		if i >= 12 {
			value *= 0.8
		}
		s.Points = append(s.Points, Point{ID: fmt.Sprintf("r%d", i), Value: value})
	}
	return s
}

// TestAcceptedChangeIsNoRegression accepts a step at its place, near it, and elsewhere.
func TestAcceptedChangeIsNoRegression(t *testing.T) {
	for result, accepted := range map[string]bool{"": false, "r12": true, "r14": true, "r20": false, "r2": false} {
		s := stepped(Acceptance{Figure: "rounds_per_s", Result: result, Reason: "meant"})
		changes := s.Trend().Changes
		if len(changes) != 1 {
			t.Fatalf("%d changes, want 1", len(changes))
		}
		if c := changes[0]; (c.Verdict == results.Pass) != accepted || (c.Verdict == results.Regression) == accepted || (c.Reason == "meant") != accepted {
			t.Errorf("accepted at %q: %+v", result, c)
		}
	}
}

func TestReadAccepted(t *testing.T) {
	const one = `{"figure":"rounds_per_s","result":"r1","reason":"fsync","accepted":"2026-11-24T00:00:00Z"}`
	got, err := ReadAccepted(strings.NewReader(one + "\n\n"))
	if err != nil || len(got) != 1 {
		t.Fatalf("%v, %v", got, err)
	}
	if diff := cmp.Diff(Acceptance{"rounds_per_s", "r1", "fsync", got[0].At}, got[0]); diff != "" {
		t.Error(diff)
	}
	for text, want := range map[string]string{
		one + "\n{": "line 2: unexpected end of JSON input",
		`{"figure":"rounds_per_s","result":"r1"}`: "line 1: want a figure, a result and a reason",
	} {
		if _, err := ReadAccepted(strings.NewReader(text)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
