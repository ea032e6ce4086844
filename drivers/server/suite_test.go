package server_test

import (
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/drivertest"
	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
)

func TestSuite(t *testing.T)          { drivertest.RunBubbled(t, inMemory) }
func TestSuiteOnSockets(t *testing.T) { drivertest.Run(t, onSockets) }
func TestSuiteOfOrder(t *testing.T) {
	drivertest.RunOrderedBubbled(t, inMemory, drivertest.EventsBeforeReconnected)
}
func TestSuiteInChroot(t *testing.T) { drivertest.RunBubbled(t, inChroot) }

func inMemory(t *testing.T) drivers.Service { return open(t, backendtest.InMemory(t)) }
func inChroot(t *testing.T) drivers.Service { return open(t, backendtest.InChroot(t)) }

func onSockets(t *testing.T) drivers.Service {
	return open(t, ensemble.Config{Servers: []string{backendtest.Native(t, server.Options{})}})
}

func open(t *testing.T, cfg ensemble.Config) drivers.Service {
	t.Helper()
	s, err := zookeeper.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
