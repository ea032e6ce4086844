package main

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/duet"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/results"
)

// TestStarvedGeneratorSaysSo checks that a load generator that does not get CPU half of the time
// reports that it did not measure the service alone.
func TestStarvedGeneratorSaysSo(t *testing.T) {
	testenv.SkipIfShort(t)
	c := exec.CommandContext(t.Context(), "stampede", "run", "--form", "predecessor", "--clients", "4",
		"--rate", "100", "--duration", "2s", "--no-save", "--quiet")
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	turn := time.NewTicker(100 * time.Millisecond)
	defer turn.Stop()
	for signal := syscall.SIGSTOP; ; {
		select {
		case err := <-ended:
			if err != nil || !strings.Contains(out.String(), "warning: predecessor, 4 clients: generator short of CPU: ") {
				t.Errorf("%v: %s", err, &out)
			}
			return
		case <-turn.C:
			c.Process.Signal(signal)
			signal = syscall.SIGSTOP + syscall.SIGCONT - signal // alternates between the two
		}
	}
}

// TestOtherProgramOnTheOnlyProcessor checks that another program which takes the one processor that a run may use is
// named, also by the warning's code, however many more the machine has, and that a threshold that a time fails is
// invalid there.
func TestOtherProgramOnTheOnlyProcessor(t *testing.T) {
	testenv.SkipIfShort(t)
	all, err := duet.Processors()
	if err != nil {
		t.Fatal(err)
	}
	only := []int{all[0].Number}
	hog := exec.CommandContext(t.Context(), "sh", "-c", "while :; do :; done")
	if err := hog.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { hog.Wait() }) // the context ends first
	if err := duet.Move(hog.Process.Pid, only); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "stampede", "run", "--form", "predecessor", "--clients", "4", "--duration", "1s",
		"--no-save", "--quiet", "--threshold", "handoff.p50<1us", "--output", "json")
	var out bytes.Buffer
	c.Stdout = &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if err := duet.Move(c.Process.Pid, only); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); c.ProcessState.ExitCode() != cli.ExitInvalid {
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
