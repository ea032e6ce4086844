package zookeeper

import "syscall"

// dieWithParent makes the kernel kill the server when the thread that started it ends, also if
// the parent process was killed.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
