package reexec

import (
	"errors"
	"syscall"
)

// Possible returns why this process cannot start servers as children here: they would outlive it if
// it is killed, and nothing ends the processes that they start.
func Possible() error {
	return errors.New("servers cannot be started on Windows: give the address of one that runs, as in zookeeper://HOST:2181 or etcd://HOST:2379")
}

// OwnGroup gives a child a process group of its own.
func OwnGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// killGroup is not called here.
func killGroup(int) {}
