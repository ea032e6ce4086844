package scenario_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/stampede-bench/stampede/workloads/scenario"
)

// TestFaults checks the errors of faulty files. Each archive has a file and its expected errors.
func TestFaults(t *testing.T) {
	archives, err := filepath.Glob("testdata/faults/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal("no archives", err)
	}
	for _, path := range archives {
		t.Run(filepath.Base(path), func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			_, err = scenario.Parse("scenario.yaml", a.Files[0].Data, keys())
			if err == nil {
				t.Fatal("nothing is wrong with it")
			}
			if diff := cmp.Diff(string(a.Files[1].Data), err.Error()+"\n"); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
