package main

import (
	"bytes"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/results"
)

// TestOtherProgramOnTheOnlyProcessor checks that another program which takes the one processor that a run may use is
// named, also by the warning's code, however many more the machine has, and that a threshold that a time fails is
// invalid there.
func TestOtherProgramOnTheOnlyProcessor(t *testing.T) {
	testenv.SkipIfShort(t)
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		t.Fatal(err)
	}
	only := 0
	for !allowed.IsSet(only) {
		only++
	}
	hog := exec.CommandContext(t.Context(), "taskset", "--cpu-list", strconv.Itoa(only), "sh", "-c", "while :; do :; done")
	if err := hog.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { hog.Wait() }) // the context ends first
	c := exec.CommandContext(t.Context(), "taskset", "--cpu-list", strconv.Itoa(only), "stampede", "run", "--form", "predecessor", "--clients", "4", "--duration", "1s",
		"--no-save", "--quiet", "--threshold", "handoff.p50<1us", "--output", "json")
	var out bytes.Buffer
	c.Stdout = &out
	if err := c.Run(); c.ProcessState.ExitCode() != cli.ExitInvalid {
		t.Errorf("exit code %d, not %d: %v", c.ProcessState.ExitCode(), cli.ExitInvalid, err)
	}
	f, err := results.Read(&out)
	if err != nil {
		t.Fatal(err)
	}
	run := f.Runs[0]
	for _, all := range [][]results.Warning{run.Warnings, run.Doubts} {
		if !slices.ContainsFunc(all, func(w results.Warning) bool {
			return w.Code == "cpu-others" && strings.HasPrefix(w.Text, "other programs used ")
		}) {
			t.Errorf("nothing of other programs in %+v", all)
		}
	}
	if got := run.Generator.Machine.Cores; got != 1 {
		t.Errorf("shares are of %g processors, want the one that the run may use", got)
	}
}
