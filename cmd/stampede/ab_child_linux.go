package main

import "syscall"

// endsWithParent is a group of its own, and the end of it when this process is
// killed.
func endsWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
