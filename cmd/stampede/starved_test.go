package main

import (
	"bytes"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A generator that does not get the processors half of the time says that it is
// not the service alone that was measured.
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
			if err != nil || !strings.Contains(out.String(), "warning: predecessor, 4 clients: generator starved: ") {
				t.Errorf("%v: %s", err, &out)
			}
			return
		case <-turn.C:
			c.Process.Signal(signal)
			signal = syscall.SIGSTOP + syscall.SIGCONT - signal // by turns
		}
	}
}
