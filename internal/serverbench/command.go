package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// runCommand is the role that runs a command until the context ends, so that a server that is
// another program ends too. It passes the command's process id to ready in place of an address, which
// is already known.
func runCommand(ctx context.Context, args []string, ready func(string)) error {
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Stdout, c.Stderr = os.Stderr, os.Stderr // the parent reads the last lines from there
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = 4 * time.Second
	if err := c.Start(); err != nil {
		return err
	}
	ready(strconv.Itoa(c.Process.Pid))
	if err := c.Wait(); err != nil && ctx.Err() == nil {
		os.Exit(1) // an error of this process would follow the command's last lines
	}
	return nil
}

// resident returns the resident memory of a process in MiB.
func resident(pid int) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		var kib float64
		if _, err := fmt.Sscanf(line, "VmRSS: %f kB", &kib); err == nil {
			return kib / 1024, nil
		}
	}
	return 0, fmt.Errorf("process %d: no VmRSS in its status", pid)
}
