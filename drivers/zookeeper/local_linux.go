package zookeeper

import "syscall"

// dieWithParent has the kernel kill the server when the thread that started it
// is gone, which covers a parent that was itself killed.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
