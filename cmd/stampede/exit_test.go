package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/results"
)

// TestReadmeHasTheExitCodes checks that the README lists every exit code as help does.
func TestReadmeHasTheExitCodes(t *testing.T) {
	text := contentOf(t, "../../README.md")
	for _, c := range cli.ExitCodes() {
		if row := fmt.Sprintf("| %s | %s |\n", c.Code, c.Meaning); !strings.Contains(text, row) {
			t.Errorf("README.md has no row %s", row)
		}
	}
}

// TestDecided checks that each verdict has its exit code, and that only the code of an inconclusive
// verdict depends on strict.
func TestDecided(t *testing.T) {
	for v, want := range map[results.Verdict][2]int{
		results.Pass: {0, 0}, results.Improvement: {0, 0}, "": {0, 0}, results.Inconclusive: {0, 97}, results.Invalid: {97, 97},
		results.Regression: {98, 98}, results.Fail: {99, 99},
	} {
		for i, strict := range []bool{false, true} {
			err, got := verdictError(v, nil, strict), 0
			if err != nil {
				got = cli.ExitCode(err)
			}
			if got != want[i] || err != nil && !errors.As(err, new(cli.Silent)) {
				t.Errorf("%s, strict %v: exit code %d (%v), want %d", v, strict, got, err, want[i])
			}
		}
	}
	unsafe := []results.Run{{}, {Safety: results.Safety{Violations: 1}}}
	if got := cli.ExitCode(verdictError(results.Fail, unsafe, false)); got != cli.ExitViolation {
		t.Errorf("a safety violation: exit code %d, want %d", got, cli.ExitViolation)
	}
}
