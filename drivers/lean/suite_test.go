package lean_test

import (
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/drivertest"
	"github.com/stampede-bench/stampede/drivers/lean"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/internal/testenv"
)

func TestSuite(t *testing.T)          { drivertest.RunBubbled(t, inMemory) }
func TestSuiteOfOrder(t *testing.T)   { drivertest.RunOrderedBubbled(t, inMemory) }
func TestSuiteInChroot(t *testing.T)  { drivertest.RunBubbled(t, inChroot) }
func TestSuiteOnSockets(t *testing.T) { drivertest.Run(t, onSockets) }

func TestSuiteOfPersistent(t *testing.T)          { drivertest.RunPersistentBubbled(t, inMemory) }
func TestSuiteOfPersistentInChroot(t *testing.T)  { drivertest.RunPersistentBubbled(t, inChroot) }
func TestSuiteOfPersistentOnSockets(t *testing.T) { drivertest.RunPersistent(t, onSockets) }

func TestSuitesOnApache(t *testing.T) {
	testenv.SkipIfShort(t)
	cfg := lean.Config{Servers: []string{backendtest.SharedZooKeeper(t)}}
	onApache := func(t *testing.T) drivers.Service { return open(t, cfg) }
	t.Run("contract", func(t *testing.T) { drivertest.Run(t, onApache) })
	t.Run("order", func(t *testing.T) { drivertest.RunOrdered(t, onApache) })
	t.Run("persistent watches", func(t *testing.T) { drivertest.RunPersistent(t, onApache) })
}

func inMemory(t *testing.T) drivers.Service { return open(t, backendtest.InMemory(t)) }
func inChroot(t *testing.T) drivers.Service { return open(t, backendtest.InChroot(t)) }

func onSockets(t *testing.T) drivers.Service {
	return open(t, lean.Config{Servers: []string{backendtest.Native(t, server.Options{})}})
}

func open(t testing.TB, cfg lean.Config) *lean.Service {
	t.Helper()
	s, err := lean.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
