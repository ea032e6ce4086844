//go:build unix

package argument_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stampede-bench/stampede/internal/argument"
)

// TestWaits reads a named pipe: the program waits until the pipe's writer has closed it.
func TestWaits(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	var text []byte
	var failed error
	done := make(chan struct{})
	go func() {
		defer close(done)
		text, failed = argument.ReadFile(pipe)
	}()
	w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // waits for the reader
	if err != nil {
		t.Fatal(err)
	}
	if !argument.Waits() {
		t.Error("waits for no file while the pipe's writer has it open")
	}
	if _, err := w.WriteString("text"); err != nil {
		t.Error(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	<-done
	if failed != nil || string(text) != "text" || argument.Waits() {
		t.Errorf("read %q, %v; waits: %t", text, failed, argument.Waits())
	}
}

func TestMissingFile(t *testing.T) {
	if _, err := argument.ReadFile(filepath.Join(t.TempDir(), "missing")); !errors.Is(err, fs.ErrNotExist) || argument.Waits() {
		t.Errorf("%v; waits: %t", err, argument.Waits())
	}
}
