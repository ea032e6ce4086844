//go:build unix

package duet

import "syscall"

// keepFromChildren keeps a pipe from the processes that this one starts.
func keepFromChildren(fd int) { syscall.CloseOnExec(fd) }
