//go:build !linux

package reexec

import "syscall"

// dieWithParent does nothing on this system. A stopped child, which cannot notice the end of its
// pipe, ends only after it is resumed.
func dieWithParent(*syscall.SysProcAttr) {}
