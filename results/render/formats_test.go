package render

import (
	"bytes"
	"regexp"
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/internal/golden"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// samples returns results of every kind.
func samples() map[string]results.Result {
	return map[string]results.Result{
		"gated": gated(), "odd": odd(), "violated": violated(), "interrupted": interrupted(), "empty": empty(),
		"swept": swept(), "counted": counted(), "compared": compared(), "history": resulttest.History(),
	}
}

// payload matches the histogram in a line of a log. It is compressed, so it may differ between versions of
// Go.
var payload = regexp.MustCompile(`HISTF\S+`)

// Each format of each sample has a golden file; read it before you accept a new version. The tables have
// golden files elsewhere, the JSON has a schema, and HTML pages and charts have their own tests.
func TestGoldens(t *testing.T) {
	for name, v := range samples() {
		for _, f := range Of(results.KindOf(v)) {
			if slices.Contains([]string{"table", "json", "html", "svg"}, f.Name) {
				continue
			}
			t.Run(name+"/"+f.Name, func(t *testing.T) {
				golden.Compare(t, "testdata/"+name+"."+f.Name, payload.ReplaceAll(written(t, f.Name, v), []byte("HISTF…")))
			})
		}
	}
}

// written returns the result in the format.
func written(t *testing.T, format string, v results.Result) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, f := range All() {
		if f.Name == format {
			if err := f.Write(&b, v, Options{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return b.Bytes()
}

func TestRefuse(t *testing.T) {
	for _, f := range All() {
		if f.Name == "hlog" {
			const want = "hlog cannot show a count: choose from table, html, svg, markdown, json, csv, junit, github"
			if got := f.Refuse(results.KindCount).Error(); got != want {
				t.Errorf("error %q, want %q", got, want)
			}
		}
		for _, kind := range f.Kinds {
			if !f.Shows(kind) {
				t.Errorf("%s does not show a %s", f.Name, kind)
			}
		}
	}
}
