package zookeeper

import (
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/cluster"
	"github.com/stampede-bench/stampede/drivers/drivertest"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// What holds on one server holds for sessions spread over several. The tests of order use one
// session, which is on one server.
func TestSuiteOnAnEnsemble(t *testing.T) {
	testenv.SkipIfShort(t)
	requireLocal(t)
	e, err := cluster.Start(t.Context(), Kind(), cluster.Plan{Servers: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	s := serviceOf(t, Config{Servers: e.Addresses()})
	drivertest.Run(t, func(*testing.T) drivers.Service { return s })
}
