package outputs

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/render"
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

// Every format with a path of - writes what it writes without a path, and no file. One of several files needs a
// folder.
func TestDashIsStandardOutputForEveryFormat(t *testing.T) {
	t.Chdir(t.TempDir())
	written := func(format string, v results.Result) string {
		t.Helper()
		var out bytes.Buffer
		list, err := Flags{Formats: []string{format}, Color: never}.Open(results.KindOf(v), &out)
		if err != nil {
			t.Fatal(err)
		}
		if err := list.Write(v, ""); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	for _, v := range []results.Result{resulttest.Lock(), resulttest.Sweep(), resulttest.Count(), resulttest.Comparison(), resulttest.Observation(), resulttest.History()} {
		for _, f := range render.FormatsFor(results.KindOf(v)) {
			if f.Files != nil {
				_, err := Flags{Formats: []string{f.Name + "=-"}}.Open(results.KindOf(v), nil)
				if want := "-o " + f.Name + ": there are several files: give them a folder, -o " + f.Name + "=FOLDER"; err == nil || err.Error() != want {
					t.Errorf("%s of a %s: got %v, want %s", f.Name, results.KindOf(v), err, want)
				}
				continue
			}
			plain, dash := written(f.Name, v), written(f.Name+"=-", v)
			if dash != plain || dash == "" && f.Name != "github" { // which has nothing to say of what passes
				t.Errorf("%s of a %s: %d bytes to -, and %d without a path", f.Name, results.KindOf(v), len(dash), len(plain))
			}
		}
	}
	if files, err := os.ReadDir("."); err != nil || len(files) > 0 {
		t.Errorf("files %v were left (%v)", files, err)
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

// The table names the files that have been written, and they are there by then. One that could not be written is not named.
func TestTableNamesWhatIsSaved(t *testing.T) {
	t.Chdir(t.TempDir())
	out := looking{look: func() {
		if _, err := os.Stat("runs.json"); err != nil {
			t.Errorf("while the table is written: %v", err)
		}
	}}
	if err := os.Mkdir("lost", 0o755); err != nil {
		t.Fatal(err)
	}
	list, err := Flags{Formats: []string{"table", "json=runs.json", "csv=lost/runs.csv"}, Color: never}.Open(results.KindRun, &out)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll("lost"); err != nil {
		t.Fatal(err)
	}
	if err := list.Write(resulttest.Lock(), "last 123"); err == nil {
		t.Error("no error of the file that cannot be written")
	}
	if !strings.Contains(out.String(), "last 123, runs.json\n") {
		t.Errorf("the table does not name what was saved, and no more:\n%s", out.String())
	}
}

// A looking writer looks at the world before each write.
type looking struct {
	bytes.Buffer
	look func()
}

func (l *looking) Write(p []byte) (int, error) {
	l.look()
	return l.Buffer.Write(p)
}
