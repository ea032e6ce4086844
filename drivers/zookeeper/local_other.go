//go:build !linux

package zookeeper

import "syscall"

// dieWithParent does nothing: only Linux kills a server whose parent was killed. Here the
// server stays alive.
func dieWithParent() *syscall.SysProcAttr { return nil }
