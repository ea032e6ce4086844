package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/results/render"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

// readmeCountsAll checks that the table of all recipes is the output of the command above it.
func readmeCountsAll(t *testing.T) {
	testenv.SkipIfShort(t)
	const page, line = "../../docs/recipes/README.md", "stampede count all --clients 4,8,16,32,64"
	_, text, found := strings.Cut(contentOf(t, page), "$ "+line+"\n…\n")
	want, _, closed := strings.Cut(text, "```")
	if !found || !closed {
		t.Fatalf("%s does not show %s", page, line)
	}
	_, rows, _ := strings.Cut(stampede(t, strings.Fields(line)[1:]...), "\n  Per round\n")
	rows, _, _ = strings.Cut(rows, "\n  saved: ")
	if diff := cmp.Diff(want, "  Per round\n"+rows); diff != "" {
		t.Errorf("the table of %s differs (-page +command):\n%s", page, diff)
	}
}

// readmeCountsTheLock checks that the README shows the count of the lock as the command prints it.
func readmeCountsTheLock(t *testing.T) {
	const line = "go run ./cmd/stampede count lock --form all --clients 8"
	_, text, found := strings.Cut(contentOf(t, "../../README.md"), "$ "+line+"\n")
	want, _, closed := strings.Cut(text, "```")
	if !found || !closed {
		t.Fatalf("README.md does not show %s", line)
	}
	got := strings.TrimPrefix(stampede(t, strings.Fields(line)[3:]...), "\n")
	anyID := regexp.MustCompile(`\d{8}-\d{6}-\d{6}-`) // of the start
	if diff := cmp.Diff(anyID.ReplaceAllString(want, "ID-"), anyID.ReplaceAllString(got, "ID-")); diff != "" {
		t.Errorf("the README's count differs (-README +command):\n%s", diff)
	}
}

// TestDocumentationNamesWhatThereIs checks that the documentation names every format, recipe and
// page.
func TestDocumentationNamesWhatThereIs(t *testing.T) {
	readme, report := contentOf(t, "../../README.md"), contentOf(t, "../../docs/report.md")
	for _, f := range render.Formats() {
		if !strings.Contains(readme, "`"+f.Name+"`") || !strings.Contains(report, "| `"+f.Name+"` | ") {
			t.Errorf("README.md or docs/report.md has no format %s", f.Name)
		}
	}
	index := contentOf(t, "../../docs/recipes/README.md")
	for _, recipe := range recipesOf(catalog.Forms()) {
		if !strings.Contains(index, fmt.Sprintf("](%s.md)", recipe)) {
			t.Errorf("docs/recipes/README.md has no recipe %s", recipe)
		}
	}
	docs := contentOf(t, "../../docs/README.md")
	for _, page := range documents(t) {
		name := strings.TrimPrefix(page, "../../docs/")
		if !strings.Contains(name, "/") && name != "README.md" && !strings.Contains(docs, "]("+name+")") {
			t.Errorf("docs/README.md does not lead to %s", name)
		}
	}
}
