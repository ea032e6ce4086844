package catalog_test

import (
	"os"
	"testing"

	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/cluster/reexec"
)

func TestMain(m *testing.M) {
	if os.Getenv(reexec.Variable) == "sleeper" {
		reexec.Dispatch(map[string]reexec.Role{"sleeper": sleeper})
	}
	backendtest.Main(m)
}
