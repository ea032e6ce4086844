package archive_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/archive"
	"github.com/stampede-bench/stampede/results/resulttest"
)

func TestLinesAreReadAgain(t *testing.T) {
	runs := resulttest.Herding(resulttest.Native())
	want := []results.Result{resulttest.FileOf(runs[0]), resulttest.FileOf(runs[1:]...)}
	var b bytes.Buffer
	for _, r := range want {
		if err := archive.WriteLine(&b, r); err != nil {
			t.Fatal(err)
		}
	}
	if n := bytes.Count(b.Bytes(), []byte("\n")); n != 2 {
		t.Errorf("%d lines, want 2", n)
	}
	path := filepath.Join(t.TempDir(), "all.jsonl")
	if err := os.WriteFile(path, bytes.TrimSuffix(b.Bytes(), []byte("\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := archive.ReadLines(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestReadLinesNamesTheLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "all.jsonl")
	if err := os.WriteFile(path, []byte("\n{\"schema\": 99}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	want := path + ": line 2: a result file of schema 99: this stampede reads schema 4"
	if _, err := archive.ReadLines(path); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
