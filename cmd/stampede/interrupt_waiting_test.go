//go:build unix

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stampede-bench/stampede/internal/testenv"
)

// TestInterruptedBeforeItBegins checks that one interrupt ends a command that waits for a file of its arguments: a named pipe whose
// writer has not closed it.
func TestInterruptedBeforeItBegins(t *testing.T) {
	testenv.SkipIfShort(t)
	for _, line := range [][]string{
		{"run", "--file", "pipe"},
		{"run", "--password-file", "pipe", "--user", "a", "--backend", "zookeeper://127.0.0.1:1"},
		{"gate", "pipe"},
		{"compare", "pipe", "pipe"},
		{"report", "pipe"},
		{"history", "--save", "pipe.jsonl"},
	} {
		t.Run(line[0]+" "+line[1], func(t *testing.T) {
			dir := t.TempDir()
			pipe := filepath.Join(dir, "pipe")
			if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.Symlink("pipe", pipe+".jsonl")); err != nil {
				t.Fatal(err)
			}
			var stderr bytes.Buffer
			c := exec.CommandContext(t.Context(), "stampede", line...)
			c.Dir, c.Stderr = dir, &stderr
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // waits for the reader
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			if err := c.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			var exit *exec.ExitError
			if err := c.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 130 {
				t.Errorf("%v, want exit code 130; stderr: %s", err, &stderr)
			}
		})
	}
}
