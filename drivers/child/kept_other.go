//go:build !linux

package child

import "syscall"

// dieWithParent is what Linux does for a child that cannot see the end of its
// pipe. Here such a child ends when somebody lets it go on.
func dieWithParent(*syscall.SysProcAttr) {}
