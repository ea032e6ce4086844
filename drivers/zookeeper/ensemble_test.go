package zookeeper

import (
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/drivertest"
	"github.com/stampede-bench/stampede/drivers/local"
)

// What holds on one server holds where sessions are on several.
func TestSuiteOnAnEnsemble(t *testing.T) {
	requireLocal(t)
	e, err := local.Start(t.Context(), kind(), local.Plan{Servers: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	s, err := New(Config{Servers: e.Addresses()})
	if err != nil {
		t.Fatal(err)
	}
	open := func(*testing.T) drivers.Service { return s }
	drivertest.Run(t, open)
	drivertest.RunOrdered(t, open)
}
