//go:build !linux

package main

import "syscall"

// endsWithParent is a group of its own.
func endsWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
