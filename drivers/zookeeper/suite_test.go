package zookeeper

import (
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/drivertest"
)

func TestSuite(t *testing.T) { drivertest.Run(t, onApache) }
func TestSuiteOfOrder(t *testing.T) {
	drivertest.RunOrdered(t, onApache, drivertest.EventsBeforeReconnected)
}

// onApache returns the local Apache ZooKeeper.
func onApache(t *testing.T) drivers.Service { return onLocal(t).Service }
