package native_test

import (
	"context"
	"net"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/drivertest"
	"github.com/stampede-bench/stampede/drivers/native"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
)

func TestConn(t *testing.T)  { drivertest.RunBubbled(t, open) }
func TestOrder(t *testing.T) { drivertest.RunOrderedBubbled(t, open) }

// open serves in-memory connections.
func open(t *testing.T) drivers.Service {
	server := native.New(native.Options{})
	t.Cleanup(server.Close)
	service, err := zookeeper.New(zookeeper.Config{
		Servers: []string{"in-memory"},
		Dial: func(context.Context, string) (net.Conn, error) {
			return server.Dial("", "", 0)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return service
}
