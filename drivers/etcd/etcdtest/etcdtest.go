// Package etcdtest runs the etcd members that tests start without the race detector, which
// would make them half as fast: the members are not under test.
package etcdtest

import (
	"fmt"
	"os"
	"syscall"

	"github.com/stampede-bench/stampede/drivers/cluster/reexec"
)

// Program is the environment variable that names a stampede binary built without the race
// detector. make test sets it; without it a member runs in the test's own binary.
const Program = "PLAIN_STAMPEDE"

// Plain replaces a process that is to be an etcd member with that program. A TestMain calls it
// first.
func Plain() {
	program := os.Getenv(Program)
	if program == "" || os.Getenv(reexec.Variable) != "etcd" {
		return
	}
	err := syscall.Exec(program, os.Args, os.Environ())
	fmt.Fprintf(os.Stderr, "%s=%s: %v\n", Program, program, err)
	os.Exit(1)
}
