package backendtest_test

import (
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/drivertest"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// What holds on one native server holds for sessions of both clients that are spread over three.
// The suite of order uses one session; it takes long, so that only one client runs it. Those of persistent watches watch what another session changes
// at the same time, so both must be on one server: any will do.
func TestSuitesOnNativeServers(t *testing.T) {
	testenv.SkipIfShort(t)
	on := func(client string) func(*testing.T) drivers.Service {
		url, err := backends.Address(backendtest.Own(t, "native:?servers=3&client="+client))
		if err != nil {
			t.Fatal(err)
		}
		return func(t *testing.T) drivers.Service { return given(t, url) } // the suites close it
	}
	lean, library := on("lean"), on("go-zookeeper")
	t.Run("lean", func(t *testing.T) { drivertest.Run(t, lean) })
	t.Run("lean, order", func(t *testing.T) { drivertest.RunOrdered(t, lean) })
	t.Run("lean, persistent watches", func(t *testing.T) { drivertest.RunPersistent(t, on("lean&clients=leader")) })
	t.Run("go-zookeeper", func(t *testing.T) { drivertest.Run(t, library) })
}

// given opens a service that is given by its address.
func given(t *testing.T, url string) drivers.Service {
	t.Helper()
	target, err := backends.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	s, err := target.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}
