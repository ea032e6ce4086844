package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The table of all recipes is what the command above it prints.
func readmeCountsAll(t *testing.T) {
	const page, line = "../../docs/recipes/README.md", "stampede count all --clients 4,8,16,32,64"
	_, text, found := strings.Cut(contentOf(t, page), "$ "+line+"\n…\n")
	want, _, closed := strings.Cut(text, "```")
	if !found || !closed {
		t.Fatalf("%s does not show %s", page, line)
	}
	_, rows, _ := strings.Cut(stampede(t, strings.Fields(line)[1:]...), "\n  per round ")
	if diff := cmp.Diff(strings.TrimRight(want, "\n"), strings.TrimRight("  per round "+rows, "\n")); diff != "" {
		t.Errorf("the table of %s differs (-page +command):\n%s", page, diff)
	}
}
