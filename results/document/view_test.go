package document_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// A glance has the same text and percentiles as the whole run, without the parts that take long to
// write.
func TestAGlanceIsTheSameInWords(t *testing.T) {
	record := &metrics.Record{Duration: time.Second, Rounds: 3000, Counts: metrics.Counts{Notifications: 3000, Useful: 3000},
		Phases: []metrics.Phase{{Name: "handoff", Service: resulttest.Spread(3000, time.Millisecond), Response: resulttest.Spread(3000, time.Millisecond)}}}
	setting := results.Setting{Recipe: "lock", Form: "predecessor", Family: "recipe", Clients: 8}
	whole, glance := results.FromRecord(setting, record), results.Glance(setting, record)
	if got, want := document.New(results.File{Runs: []results.Run{glance}}).Findings, document.New(results.File{Runs: []results.Run{whole}}).Findings; !cmp.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	got, want := glance.Latency["handoff"].Response, whole.Latency["handoff"].Response
	if *got.P99 != *want.P99 || got.P999 != nil || got.HDR != "" || want.HDR == "" {
		t.Errorf("%+v, want the percentiles of %+v", got, want)
	}
}

// The document of an empty result of any kind says that there is nothing.
func TestDocumentOfNothing(t *testing.T) {
	for _, v := range []results.Result{resulttest.FileOf(), resulttest.SweepOf(), results.CountReport{}, results.Comparison{}} {
		if d := document.New(v); len(d.Findings) == 0 || d.Heading == "" {
			t.Errorf("an empty %s says nothing: %+v", results.KindOf(v), d)
		}
	}
}
