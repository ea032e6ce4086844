package pipeline_test

import (
	"context"
	"net"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/drivertest"
	"github.com/stampede-bench/stampede/drivers/native"
	"github.com/stampede-bench/stampede/drivers/pipeline"
)

func TestSuite(t *testing.T)                     { drivertest.RunBubbled(t, onNative) }
func TestSuiteOfOrder(t *testing.T)              { drivertest.RunOrderedBubbled(t, onNative) }
func TestSuiteInChroot(t *testing.T)             { drivertest.RunBubbled(t, inChroot) }
func TestSuiteOnSockets(t *testing.T)            { drivertest.Run(t, onSockets) }
func TestSuiteOnApache(t *testing.T)             { drivertest.Run(t, onApache) }
func TestSuiteOfOrderOnApache(t *testing.T)      { drivertest.RunOrdered(t, onApache) }
func TestSuiteOfPersistentOnApache(t *testing.T) { drivertest.RunPersistent(t, onApache) }

func TestSuiteOfPersistent(t *testing.T)          { drivertest.RunPersistentBubbled(t, onNative) }
func TestSuiteOfPersistentInChroot(t *testing.T)  { drivertest.RunPersistentBubbled(t, inChroot) }
func TestSuiteOfPersistentOnSockets(t *testing.T) { drivertest.RunPersistent(t, onSockets) }

// onNative is a native server of its own, in memory.
func onNative(t *testing.T) drivers.Service { return serving(t, native.New(native.Options{}), "") }

// inChroot does so for sessions that live below one node.
func inChroot(t *testing.T) drivers.Service {
	server := native.New(native.Options{})
	c, err := serving(t, server, "").Dial(t.Context(), drivers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Create(t.Context(), "/chroot", nil, 0); err != nil {
		t.Fatal(err)
	}
	return serving(t, server, "/chroot")
}

func serving(t *testing.T, server *native.Server, chroot string) drivers.Service {
	t.Cleanup(server.Close)
	s, err := pipeline.New(pipeline.Config{
		Servers: []string{"in-memory"}, Chroot: chroot,
		Dial: func(context.Context, string) (net.Conn, error) { return server.Dial("", "", 0) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func onSockets(t *testing.T) drivers.Service {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := native.New(native.Options{})
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	t.Cleanup(func() {
		server.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return at(t, l.Addr().String())
}

func at(t testing.TB, address string) *pipeline.Service {
	t.Helper()
	s, err := pipeline.New(pipeline.Config{Servers: []string{address}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// onApache is an Apache ZooKeeper, which the package's tests share.
func onApache(t *testing.T) drivers.Service { return at(t, apache(t)) }
