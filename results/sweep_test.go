package results_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// The file of a sweep can be read as the file of its runs, which is that of a run: it can be written and read again.
func TestSweepIsReadAsAFile(t *testing.T) {
	want := resulttest.SweepOf(resulttest.ScalingRuns()...)
	var b bytes.Buffer
	if err := results.WriteJSON(&b, want); err != nil {
		t.Fatal(err)
	}
	f, err := results.Read(&b)
	want.File.Kind = results.KindRun
	if diff := cmp.Diff(want.File, f); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	b.Reset()
	if err := results.WriteJSON(&b, f); err != nil {
		t.Fatal(err)
	}
	again, err := results.Read(&b)
	if diff := cmp.Diff(f, again); err != nil || diff != "" {
		t.Errorf("written and read again: %v (-want +got):\n%s", err, diff)
	}
}

// A result is not written under the name of another kind, which has fields that it lacks.
func TestWriteRefusesAnotherKind(t *testing.T) {
	var b bytes.Buffer
	f := resulttest.SweepOf(resulttest.HerdRuns()[:4]...).File
	if err := results.WriteJSON(&b, f); err == nil || b.Len() > 0 ||
		err.Error() != `a result of kind run cannot be written as "sweep"` {
		t.Errorf("%v, %d bytes written", err, b.Len())
	}
}
