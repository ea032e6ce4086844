package outputs

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// A buffer is no terminal, so auto writes no colours to it, and a file never gets any.
func TestColor(t *testing.T) {
	for color, want := range map[string]bool{"": false, auto: false, never: false, always: true} {
		var b bytes.Buffer
		outs, err := Flags{Formats: []string{"table"}, Color: color}.Open(results.KindRun, &b)
		if err != nil {
			t.Fatal(err)
		}
		if err := outs.Write(resulttest.Lock(), ""); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(b.String(), "\x1b["); got != want {
			t.Errorf("--color %q: colours %v, want %v", color, got, want)
		}
	}
	_, err := Flags{Color: "alway"}.Open(results.KindRun, nil)
	if want := `--color: unknown choice "alway": did you mean "always"?`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// A path of - is standard output, which one format can have.
func TestDashIsStandardOutput(t *testing.T) {
	t.Chdir(t.TempDir())
	var out bytes.Buffer
	list, err := Flags{Formats: []string{"json=-", "csv=runs.csv"}, Color: never}.Open(results.KindRun, &out)
	if err != nil {
		t.Fatal(err)
	}
	if err := list.Write(results.File{Head: results.Head{Kind: results.KindRun, ID: "here"}}, ""); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), `"id": "here"`) || len(files) != 1 || files[0].Name() != "runs.csv" {
		t.Errorf("standard output has %q, the folder %v", out.String(), files)
	}
	if _, err := (Flags{Formats: []string{"json=-", "csv"}, Color: never}).Open(results.KindRun, &out); err == nil || !strings.Contains(err.Error(), "would both go to standard output") {
		t.Errorf("two formats on standard output: %v", err)
	}
}
