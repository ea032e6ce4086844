package results_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// The file of a sweep can be read as the file of its runs.
func TestSweepIsReadAsAFile(t *testing.T) {
	want := resulttest.SweepOf(resulttest.ScalingRuns()...)
	var b bytes.Buffer
	if err := results.WriteJSON(&b, want); err != nil {
		t.Fatal(err)
	}
	f, err := results.Read(&b)
	if diff := cmp.Diff(want.File, f); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
