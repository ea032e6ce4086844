package zookeeper

import (
	"context"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/drivertest"
)

func TestConn(t *testing.T)  { drivertest.Run(t, open) }
func TestOrder(t *testing.T) { drivertest.RunOrdered(t, open) }

// open starts an Apache ZooKeeper.
func open(t *testing.T) drivers.Service {
	requireLocal(t)
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- RunLocal(ctx, func(a string) { ready <- a }) }()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	select {
	case a := <-ready:
		s, err := New(Config{Servers: []string{a}})
		if err != nil {
			t.Fatal(err)
		}
		return s
	case err := <-ended:
		ended <- nil
		t.Fatal(err)
		return nil
	}
}
