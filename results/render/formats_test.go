package render

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stampede-bench/stampede/internal/golden"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// samples returns results of every kind, computed at the first call.
var samples = sync.OnceValue(func() map[string]results.Result {
	return map[string]results.Result{
		"gated": gated(), "odd": odd(), "violated": violated(), "interrupted": interrupted(), "empty": empty(),
		"swept": swept(), "counted": counted(), "compared": compared(), "history": resulttest.History(),
	}
})

// payload matches the histogram in a line of a log. It is compressed, so it may differ between versions of
// Go.
var payload = regexp.MustCompile(`HISTF\S+`)

// Some samples have golden files in the formats that are no tables; read one before you accept a new version. The
// tables have golden files elsewhere, and other tests read each format of each sample.
func TestGoldens(t *testing.T) {
	for format, names := range map[string][]string{
		"summary": {"gated", "violated", "compared", "counted", "swept", "interrupted"},
		"csv":     {"gated", "compared", "history"}, "markdown": {"gated", "odd", "compared", "swept"}, "junit": {"gated", "violated", "interrupted"},
		"github": {"gated", "violated"}, "bench": {"gated"}, "hlog": {"gated"},
	} {
		for _, name := range names {
			t.Run(name+"/"+format, func(t *testing.T) {
				golden.Compare(t, "testdata/"+name+"."+format, payload.ReplaceAll(written(t, format, samples()[name]), []byte("HISTF…")))
			})
		}
	}
}

// written returns the result in the format.
func written(t *testing.T, format string, v results.Result) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, f := range Formats() {
		if f.Name == format {
			if err := f.Write(&b, v, Options{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return b.Bytes()
}

func TestRefuse(t *testing.T) {
	for _, f := range Formats() {
		if f.Name == "hlog" {
			const want = "hlog cannot show a count: choose from table, summary, html, svg, markdown, json, csv, junit, github"
			if got := f.Refuse(results.KindCount).Error(); got != want {
				t.Errorf("error %q, want %q", got, want)
			}
		}
		for _, kind := range f.Kinds {
			if !f.Supports(kind) {
				t.Errorf("%s does not support a %s", f.Name, kind)
			}
		}
	}
}

// A failure of the only comparison names no subject, so its text does not begin with an empty name.
func TestAFailureWithoutASubject(t *testing.T) {
	var b bytes.Buffer
	if err := rendered(writeJUnit)(&b, resulttest.Comparison(), Options{}); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); !strings.Contains(text, ">release.response.p99: measured ") || strings.Contains(text, ">: ") {
		t.Errorf("%s", text)
	}
}
