package control

import (
	"os"

	"golang.org/x/sys/windows"
)

// lockFile locks a file until it is closed. It fails if another process has locked it.
func lockFile(f *os.File) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	return windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
}
