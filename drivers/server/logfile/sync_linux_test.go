package logfile

import (
	"errors"
	"os"
	"syscall"
	"testing"
)

// A sync is repeated after an interrupt by a signal, but not after an error of the disk.
func TestSyncIsRepeatedAfterASignal(t *testing.T) {
	results := []error{syscall.EINTR, syscall.EINTR, nil, syscall.EIO, nil}
	calls := 0
	sync := func() error { calls++; return results[calls-1] }
	if err := uninterrupted(sync); err != nil || calls != 3 {
		t.Errorf("%v after %d calls, want nil after 3", err, calls)
	}
	if err := uninterrupted(sync); !errors.Is(err, syscall.EIO) || calls != 4 {
		t.Errorf("%v after %d calls, want %v after 4", err, calls, syscall.EIO)
	}
}

// A file of System reports a failed sync: pipes cannot be synced.
func TestSyncReportsItsError(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if err := (systemFile{w}).Sync(); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("sync of a pipe: %v, want %v", err, syscall.EINVAL)
	}
	w.Close()
	if err := (systemFile{w}).Sync(); err == nil {
		t.Error("a closed file was synced")
	}
}
