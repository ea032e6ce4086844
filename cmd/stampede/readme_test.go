package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The README's table of all recipes is what the command above it prints.
func TestReadmeCountsAll(t *testing.T) {
	const line = "stampede count all --clients 4,8,16,32,64"
	_, text, found := strings.Cut(readme(t), "$ "+line+"\n…\n")
	want, _, closed := strings.Cut(text, "```")
	if !found || !closed {
		t.Fatalf("README.md does not show %s", line)
	}
	// Not this binary: under the race detector it takes minutes.
	binary := filepath.Join(t.TempDir(), "stampede")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out, err := exec.Command(binary, strings.Fields(line)[1:]...).Output()
	if err != nil {
		t.Fatal(err)
	}
	_, rows, _ := strings.Cut(string(out), "\n  per round ")
	if diff := cmp.Diff(strings.TrimRight(want, "\n"), strings.TrimRight("  per round "+rows, "\n")); diff != "" {
		t.Errorf("the README's table differs (-README +command):\n%s", diff)
	}
}

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
