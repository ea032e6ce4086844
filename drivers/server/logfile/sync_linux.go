package logfile

import (
	"errors"
	"os"
	"syscall"
)

// syncData returns when the file's bytes and its length are on disk. Unlike [os.File.Sync], it does
// not sync the modification time, for which the system would have to write the inode each time.
func syncData(f *os.File) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := conn.Control(func(fd uintptr) { failed = uninterrupted(func() error { return syscall.Fdatasync(int(fd)) }) }); err != nil {
		return err
	}
	return os.NewSyscallError("fdatasync", failed)
}

// uninterrupted repeats do while a signal interrupts it.
func uninterrupted(do func() error) error {
	for {
		if err := do(); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
