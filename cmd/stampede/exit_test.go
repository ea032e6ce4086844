package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/results"
)

// TestReadmeHasTheExitCodes checks that the README lists every exit code as help does.
func TestReadmeHasTheExitCodes(t *testing.T) {
	text := contentOf(t, "../../README.md")
	for _, c := range exitCodes() {
		if row := fmt.Sprintf("| %s | %s |\n", c.code, c.meaning); !strings.Contains(text, row) {
			t.Errorf("README.md has no row %s", row)
		}
	}
}

// TestDecided checks that each verdict has its exit code, and that only the code of an inconclusive
// verdict depends on strict.
func TestDecided(t *testing.T) {
	for v, want := range map[results.Verdict][2]int{
		results.Pass: {0, 0}, results.Better: {0, 0}, "": {0, 0}, results.Inconclusive: {0, 97}, results.Invalid: {97, 97},
		results.Regression: {98, 98}, results.Failed: {99, 99}, results.Violated: {96, 96},
	} {
		for i, strict := range []bool{false, true} {
			err, got := decided(v, strict), 0
			if err != nil {
				got = exitCode(err)
			}
			if got != want[i] || err != nil && !errors.As(err, new(silent)) {
				t.Errorf("%s, strict %v: exit code %d (%v), want %d", v, strict, got, err, want[i])
			}
		}
	}
}
