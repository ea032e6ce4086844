// Command servers runs the servers that tests start: see package clustertest. It does nothing by itself.
package main

import (
	"fmt"
	"os"

	"github.com/stampede-bench/stampede/drivers/backends/roles"
	"github.com/stampede-bench/stampede/drivers/cluster/reexec"
)

func main() {
	reexec.Dispatch(roles.All())
	fmt.Fprintln(os.Stderr, "servers: tests start this program, in the role of a server")
	os.Exit(1)
}
