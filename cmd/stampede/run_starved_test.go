package main

import (
	"bytes"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/results"
)

// TestStarvedGeneratorSaysSo checks that a load generator that does not get CPU half of the time
// reports that it did not measure the service alone.
func TestStarvedGeneratorSaysSo(t *testing.T) {
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
			if err != nil || !strings.Contains(out.String(), "warning: predecessor, 4 clients: load generator short of CPU: ") {
				t.Errorf("%v: %s", err, &out)
			}
			return
		case <-turn.C:
			c.Process.Signal(signal)
			signal = syscall.SIGSTOP + syscall.SIGCONT - signal // alternates between the two
		}
	}
}

// TestOtherProgramsAreNamed checks that a machine on which other programs keep every processor busy
// is reported as such, also by the warning's code, and that a threshold that a time fails is invalid there.
func TestOtherProgramsAreNamed(t *testing.T) {
	for range 2 * runtime.NumCPU() {
		hog := exec.CommandContext(t.Context(), "timeout", "120", "sh", "-c", "while :; do :; done")
		hog.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		hog.Cancel = func() error { return syscall.Kill(-hog.Process.Pid, syscall.SIGKILL) }
		if err := hog.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { hog.Wait() }) // the context ends first
	}
	c := exec.CommandContext(t.Context(), "stampede", "run", "--form", "predecessor", "--clients", "4", "--duration", "1s",
		"--no-save", "--quiet", "--threshold", "handoff.p50<1us", "--output", "json")
	out, err := c.Output()
	if code := c.ProcessState.ExitCode(); code != cli.ExitInvalid {
		t.Errorf("exit code %d, not %d: %v", code, cli.ExitInvalid, err)
	}
	f, err := results.Read(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	for _, all := range [][]results.Warning{f.Runs[0].Warnings, f.Runs[0].Doubts} {
		if !slices.ContainsFunc(all, func(w results.Warning) bool {
			return w.Code == "cpu-others" && strings.HasPrefix(w.Text, "other programs used ")
		}) {
			t.Errorf("nothing of other programs in %+v", all)
		}
	}
}
