package etcd

import (
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/drivertest"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// What holds on one member holds for sessions spread over several, except for persistent
// watches: see the package comment.
func TestSuiteOnAnEnsemble(t *testing.T) {
	testenv.SkipIfShort(t)
	e, err := started(t.Context(), 3, NoFsync)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	s := service(t, Config{Endpoints: e.Addresses()})
	drivertest.Run(t, func(*testing.T) drivers.Service { return s })
}
