package catalog_test

import (
	"os"
	"testing"

	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/child"
)

func TestMain(m *testing.M) {
	if os.Getenv(child.Variable) == "sleeper" {
		child.Dispatch(map[string]child.Role{"sleeper": sleeper})
	}
	backendtest.Main(m)
}
