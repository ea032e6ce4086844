package parts_test

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/internal/golden"
	"github.com/stampede-bench/stampede/internal/parts"
)

const root = "../.."

// The calls of all parts together run each package, and cut ones wholly.
func TestCallsRunEachPackage(t *testing.T) {
	packages := []string{"cmd/stampede", "drivers/etcd", "drivers/lean", "results/stats", "workloads/recipetest"}
	var got []string
	for _, p := range parts.All() {
		for _, call := range p.Calls(packages, true) {
			got = append(got, p.Name+": "+strings.Join(call, " "))
		}
	}
	golden.Compare(t, "testdata/calls.txt", []byte(strings.Join(got, "\n")+"\n"))

	race, err := parts.Named([]string{"race"})
	if err != nil {
		t.Fatal(err)
	}
	if calls := fmt.Sprint(race[0].Calls(packages, false)); strings.Contains(calls, "-race") {
		t.Errorf("%s: the race detector is used though there is none", calls)
	}
}

func TestUnknownPart(t *testing.T) {
	_, err := parts.Named([]string{"recipe"})
	if err == nil || !strings.Contains(err.Error(), `"recipe": want one of race, `) {
		t.Errorf("%v", err)
	}
}

// A script that make test leaves out names the part that runs it.
func TestScriptsNameTheirPart(t *testing.T) {
	scripts, err := filepath.Glob(root + "/cmd/stampede/testdata/*/*.txtar")
	if err != nil || len(scripts) < 50 {
		t.Fatalf("%d scripts, %v", len(scripts), err)
	}
	row, _ := parts.RowOf("cmd/stampede", "TestScripts")
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "[short] ") && !strings.Contains(line, "left to make check-"+row.Part+"'") {
				t.Errorf("%s: %q does not name make check-%s", path.Base(script), line, row.Part)
			}
		}
	}
}

// The workflow that runs the parts knows all of them.
func TestTheWorkflowRunsEachPart(t *testing.T) {
	workflow, err := os.ReadFile(root + "/.github/workflows/check.yml")
	if err != nil {
		t.Fatal(err)
	}
	want := "part: [" + strings.Join(parts.Names(), ", ") + "]"
	if !strings.Contains(string(workflow), want) {
		t.Errorf("check.yml does not have %q", want)
	}
}
