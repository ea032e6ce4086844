//go:build unix

package reexec

import "syscall"

// Possible returns why this process cannot start servers as children here.
func Possible() error { return nil }

// OwnGroup gives a child a process group of its own.
func OwnGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills a child and all processes of its group.
func killGroup(pid int) { syscall.Kill(-pid, syscall.SIGKILL) }
