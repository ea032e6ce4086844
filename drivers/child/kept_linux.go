package child

import "syscall"

// dieWithParent has the kernel kill the child when the thread that started it is
// gone.
func dieWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
