package main

import (
	"bytes"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/internal/testenv"
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
