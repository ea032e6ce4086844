package report

import (
	"testing"

	"github.com/stampede-bench/stampede/results"
)

// An unknown median is n/a, and a median of 0 is 0.
func TestUnknownMediansAreNotZero(t *testing.T) {
	unknown := changed(results.Change{Figure: "acquire.response.p99", Unit: "ns", Verdict: results.Invalid})
	if unknown.Base != "n/a" || unknown.New != "n/a" {
		t.Errorf("of too few observations the medians are %q and %q", unknown.Base, unknown.New)
	}
	p := 1.0
	nothing := changed(results.Change{Figure: "errors", P: &p, Effect: &results.Estimate{}, Verdict: results.Pass})
	if nothing.Base != "0" || nothing.New != "0" {
		t.Errorf("of nothing the medians are %q and %q", nothing.Base, nothing.New)
	}
}
