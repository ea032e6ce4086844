package document_test

import (
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// The page names the program that was measured: its facts have the values of --subject and --tag.
func TestMarksAreFacts(t *testing.T) {
	f := resulttest.FileOf(resulttest.Herding(resulttest.Native())...)
	named := func(facts []document.Fact) string {
		if i := slices.IndexFunc(facts, func(f document.Fact) bool { return f.Name == "marks" }); i >= 0 {
			return facts[i].Value
		}
		return "none"
	}
	if got := named(document.New(f).Facts); got != "none" {
		t.Errorf("a file without marks has %q", got)
	}
	f.Marks = results.Marks{Subject: "v1.4.0", Tags: map[string]string{"branch": "main", "arch": "arm64"}}
	if got, want := named(document.New(f).Facts), "v1.4.0, arch=arm64, branch=main"; got != want {
		t.Errorf("the marks are %q, want %q", got, want)
	}
}
