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

func TestSuite(t *testing.T)          { drivertest.RunBubbled(t, whole) }
func TestSuiteOnSockets(t *testing.T) { drivertest.Run(t, onSockets) }
func TestSuiteOfOrder(t *testing.T)   { drivertest.RunOrderedBubbled(t, whole) }
func TestSuiteInChroot(t *testing.T)  { drivertest.RunBubbled(t, chrooted) }

// whole serves in-memory connections.
func whole(t *testing.T) drivers.Service { return serve(t, newServer(t), "") }

// chrooted does so for sessions that live below one node.
func chrooted(t *testing.T) drivers.Service {
	server := newServer(t)
	c, err := serve(t, server, "").Dial(t.Context(), drivers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Create(t.Context(), "/chroot", nil, 0); err != nil {
		t.Fatal(err)
	}
	return serve(t, server, "/chroot")
}

// onSockets serves on the loopback interface.
func onSockets(t *testing.T) drivers.Service {
	server := newServer(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	t.Cleanup(func() {
		server.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	service, err := zookeeper.New(zookeeper.Config{Servers: []string{l.Addr().String()}})
	if err != nil {
		t.Fatal(err)
	}
	return service
}

func newServer(t *testing.T) *native.Server {
	server := native.New(native.Options{})
	t.Cleanup(server.Close)
	return server
}

func serve(t *testing.T, server *native.Server, chroot string) drivers.Service {
	service, err := zookeeper.New(zookeeper.Config{
		Servers: []string{"in-memory"},
		Chroot:  chroot,
		Dial: func(context.Context, string) (net.Conn, error) {
			return server.Dial("", "", 0)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return service
}
