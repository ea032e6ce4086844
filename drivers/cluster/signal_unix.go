//go:build unix

package cluster

import "syscall"

func killProcess(pid int) error   { return syscall.Kill(pid, syscall.SIGKILL) }
func stopProcess(pid int) error   { return syscall.Kill(pid, syscall.SIGSTOP) }
func resumeProcess(pid int) error { return syscall.Kill(pid, syscall.SIGCONT) }
