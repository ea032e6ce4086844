package results_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// A sweep is read as it was written, and it can be read as a File; a File is not read as a sweep.
func TestReadSweep(t *testing.T) {
	want := resulttest.SweepOf(resulttest.ScalingRuns()...)
	var b bytes.Buffer
	if err := want.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	got, err := results.ReadSweep(strings.NewReader(text))
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v; read something else than was written (-want +got):\n%s", err, diff)
	}
	f, err := results.Read(strings.NewReader(text))
	if diff := cmp.Diff(want.File, f); err != nil || diff != "" {
		t.Errorf("%v; as a file (-want +got):\n%s", err, diff)
	}
	b.Reset()
	if err := want.File.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	if _, err := results.ReadSweep(&b); err == nil {
		t.Error("the file of a run is read as a sweep")
	}
}
