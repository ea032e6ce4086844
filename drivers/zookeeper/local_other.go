//go:build !linux

package zookeeper

import "syscall"

// dieWithParent is what Linux does for a server whose parent was killed. Here
// such a server lives on.
func dieWithParent() *syscall.SysProcAttr { return nil }
