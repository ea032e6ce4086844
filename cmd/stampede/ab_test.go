package main

import (
	"bytes"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/archive"
	"github.com/stampede-bench/stampede/workloads/namespace"
)

// ab compares base and candidate and returns the result and the exit code.
func ab(t *testing.T, base, other string, flags ...string) (results.Comparison, int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ab.json")
	cmd := exec.CommandContext(t.Context(), "stampede", append([]string{"ab", base, other, "--no-save", "--quiet", "-o", "json=" + file}, flags...)...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	v, err := archive.ReadAny(file)
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return v.(results.Comparison), cmd.ProcessState.ExitCode()
}

// TestAbRecordsTheOrderOfItsRuns checks that each run records its place in the order of runs, and
// that this order is the one drawn for its pair.
func TestAbRecordsTheOrderOfItsRuns(t *testing.T) {
	c, _ := ab(t, "lock/predecessor", "lock/one-node", "--metric", "rounds_per_s",
		"--pairs", "6", "--clients", "2", "--hold", "0", "--warmup", "0", "--rounds", "5", "--seed", "3")
	if len(c.NewFirst) != 6 || len(c.Base.Runs) != 6 || len(c.New.Runs) != 6 {
		t.Fatalf("%d orders, %d and %d runs", len(c.NewFirst), len(c.Base.Runs), len(c.New.Runs))
	}
	for i, newFirst := range c.NewFirst {
		first, second := c.Base.Runs[i], c.New.Runs[i]
		if newFirst {
			first, second = second, first
		}
		if first.Order != 2*i+1 || second.Order != 2*i+2 {
			t.Errorf("pair %d, new first %v: its runs are %d and %d in order, want %d and %d", i+1, newFirst, first.Order, second.Order, 2*i+1, 2*i+2)
		}
	}
}

// TestAbInterrupted checks that a comparison that is interrupted in its first pair decides nothing and removes its nodes.
func TestAbInterrupted(t *testing.T) {
	testenv.SkipIfShort(t)
	addr, watcher := given(t)
	file := filepath.Join(t.TempDir(), "ab.json")
	var stderr bytes.Buffer
	run := exec.CommandContext(t.Context(), "stampede", "ab", "hold=0", "hold=1ms", "--form", "predecessor", "--backend", "zookeeper://"+addr,
		"--clients", "4", "--warmup", "0", "--duration", "1h", "-o", "json="+file)
	run.Stderr, run.Dir = &stderr, filepath.Dir(file)
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	awaitHolder(t, watcher)
	if err := run.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := run.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 130 {
		t.Errorf("%v, want exit code 130; stderr: %s", err, &stderr)
	}
	v, err := archive.ReadAny(file)
	if err != nil {
		t.Fatal(err)
	}
	c := v.(results.Comparison)
	if !c.Interrupted || c.Verdict != "" || len(c.Base.Runs) != 0 || len(c.Changes) != 0 {
		t.Errorf("interrupted %v, verdict %q, %d runs: want nothing decided of no pair", c.Interrupted, c.Verdict, len(c.Base.Runs))
	}
	if _, there, err := watcher.Exists(t.Context(), namespace.Default, nil); err != nil || there {
		t.Errorf("%s is there: %v, %v", namespace.Default, there, err)
	}
}

// TestAbExitCodes checks that an inconclusive comparison passes unless --inconclusive says fail,
// and that an invalid one never passes.
func TestAbExitCodes(t *testing.T) {
	for _, c := range []struct {
		verdict      results.Verdict
		inconclusive string
		want         int
	}{
		{results.Improvement, "fail", cli.ExitOK}, {results.Pass, "fail", cli.ExitOK},
		{results.Inconclusive, "warn", cli.ExitOK}, {results.Inconclusive, "fail", cli.ExitInvalid},
		{results.Invalid, "warn", cli.ExitInvalid}, {results.Regression, "warn", cli.ExitRegression}, {results.Fail, "warn", cli.ExitViolation},
	} {
		j := &comparison{pairedRuns: &pairedRuns{app: new(app), progress: newProgress(io.Discard, true, new(course))}, flags: abFlags{inconclusive: c.inconclusive}}
		if c.want == cli.ExitViolation {
			j.file.New.Runs = []results.Run{{Safety: results.Safety{Violations: 1}}}
		}
		j.file.Changes = []results.Change{{Figure: "rounds_per_s", Gated: true, Verdict: c.verdict}, {Figure: "errors", Verdict: results.Regression}}
		got := cli.ExitOK
		if err := j.finish(nil, nil, nil); err != nil {
			got = cli.ExitCode(err)
		}
		if got != c.want || j.file.Verdict != c.verdict {
			t.Errorf("%s with --inconclusive %s: exit code %d, verdict %s; want %d", c.verdict, c.inconclusive, got, j.file.Verdict, c.want)
		}
	}
}

// TestAbTellsBrokenIdentities checks that a run whose counts are impossible under any schedule does
// not pass, whichever figures are compared.
func TestAbTellsBrokenIdentities(t *testing.T) {
	j := &comparison{pairedRuns: &pairedRuns{app: new(app), progress: newProgress(io.Discard, true, new(course))}}
	j.file.Changes = []results.Change{{Figure: "rounds_per_s", Gated: true, Verdict: results.Improvement}}
	j.file.New.Runs = []results.Run{{Cost: results.Cost{Expected: &results.Expected{Identities: []results.Identity{{Formula: "lists = N+K", Left: 1, Right: 2}}}}}}
	err := j.finish(nil, nil, nil)
	if err == nil || cli.ExitCode(err) != cli.ExitRegression || len(j.file.Warnings) != 1 || j.file.Warnings[0].Code != results.IdentityBroken || j.file.Warnings[0].Text != "candidate: IDENTITY BROKEN in 1 of 1 runs: lists = N+K" {
		t.Errorf("%v, %+v", err, j.file.Warnings)
	}
}
