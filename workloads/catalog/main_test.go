package catalog_test

import (
	"testing"

	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/cluster/clustertest"
	"github.com/stampede-bench/stampede/drivers/cluster/reexec"
)

func TestMain(m *testing.M) {
	clustertest.Dispatch(map[string]reexec.Role{"sleeper": sleeper})
	backendtest.Main(m)
}
