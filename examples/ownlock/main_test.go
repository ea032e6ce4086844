package main

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// TestOwnLock builds and runs the example, and checks that it prints its own lock beside the
// others and reports no safety violation.
func TestOwnLock(t *testing.T) {
	program := filepath.Join(t.TempDir(), "ownlock")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), program).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, clients := range []string{"2", "16"} {
		for _, form := range []string{"predecessor", "one-node", "patient"} {
			row := regexp.MustCompile(`(?m)^ +` + clients + ` +` + form + ` .* ok [\d  ]+$`)
			if !row.Match(out) {
				t.Errorf("no row of %s with %s clients that is safe", form, clients)
			}
		}
	}
	if t.Failed() {
		t.Logf("%s", out)
	}
}
