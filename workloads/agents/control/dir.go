package control

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// dirs is the pattern of the names of members' directories.
const dirs = "stampede-control-*"

// newDir creates the directory of a member's data, and removes those that killed processes have left. The
// lock marks it as used.
func newDir() (dir string, lock *os.File, err error) {
	found, err := filepath.Glob(filepath.Join(os.TempDir(), dirs))
	for _, old := range found {
		if f, err := take(old); err == nil {
			_ = os.RemoveAll(old) // another process may do so as well
			f.Close()
		}
	}
	if err == nil {
		dir, err = os.MkdirTemp("", dirs)
	}
	if err == nil {
		lock, err = os.Create(lockOf(dir))
	}
	if err == nil {
		err = lockFile(lock)
	}
	return dir, lock, err
}

// take locks a directory that no process uses.
func take(dir string) (*os.File, error) {
	f, err := os.Open(lockOf(dir))
	if err != nil {
		return nil, err
	}
	if err := lockFile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func lockOf(dir string) string { return filepath.Join(dir, "lock") }

func lockFile(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }
