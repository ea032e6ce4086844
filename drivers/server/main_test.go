package server_test

import (
	"testing"

	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/cluster"
	"github.com/stampede-bench/stampede/drivers/cluster/clustertest"
	"github.com/stampede-bench/stampede/drivers/cluster/reexec"
)

// The native servers that tests start run in the test's binary, so that the race detector sees them.
func TestMain(m *testing.M) {
	clustertest.Dispatch(map[string]reexec.Role{"native": cluster.InPlace(backends.RunNative)})
	backendtest.Main(m)
}
