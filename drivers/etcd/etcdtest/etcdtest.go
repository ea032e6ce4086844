// Package etcdtest has the members of etcd that tests start run without the race
// detector, under which they take twice as long: it is not they who are tested.
package etcdtest

import (
	"fmt"
	"os"
	"syscall"

	"github.com/stampede-bench/stampede/drivers/child"
)

// Program is the variable that names stampede, built without the race detector. make
// test sets it; without it a member is the test's own binary.
const Program = "PLAIN_STAMPEDE"

// Plain, the first thing that a TestMain does, goes on as that program in a process
// that is a member of etcd.
func Plain() {
	program := os.Getenv(Program)
	if program == "" || os.Getenv(child.Variable) != "etcd" {
		return
	}
	err := syscall.Exec(program, os.Args, os.Environ())
	fmt.Fprintf(os.Stderr, "%s=%s: %v\n", Program, program, err)
	os.Exit(1)
}
