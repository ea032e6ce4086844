//go:build unix

package clustertest

import (
	"os"
	"syscall"
)

func replaceProcess(program string) error {
	return syscall.Exec(program, append([]string{program}, os.Args[1:]...), os.Environ())
}

// lock locks a file until it is closed, and waits until no other process has locked it.
func lock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX) }
