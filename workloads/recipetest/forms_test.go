package recipetest_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/native"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads/recipetest"
)

func lockForms() []recipetest.LockForm {
	return []recipetest.LockForm{
		{Name: "predecessor", New: func(c drivers.Conn, path string) recipetest.LockHandle {
			return recipes.NewLock(c, path)
		}},
		{Name: "one-node", New: func(c drivers.Conn, path string) recipetest.LockHandle {
			return naive.NewLock(c, path)
		}},
		{Name: "children-watch", New: func(c drivers.Conn, path string) recipetest.LockHandle {
			return naive.NewChildrenWatchLock(c, path)
		}},
		{Name: "poll", New: func(c drivers.Conn, path string) recipetest.LockHandle {
			return naive.NewPollLock(c, path, 5*time.Millisecond)
		}},
		{Name: "go-zookeeper", Library: true, New: func(c drivers.Conn, path string) recipetest.LockHandle {
			return c.(drivers.LibraryLocker).NewLibraryLock(path)
		}},
	}
}

func TestLockInProcess(t *testing.T) {
	for _, form := range lockForms() {
		t.Run(form.Name, func(t *testing.T) { recipetest.LockBubbled(t, inProcess, form) })
	}
}

type service struct {
	*zookeeper.Service
	server *native.Server
}

func (s service) Close() error { s.server.Close(); return nil }

func inProcess(t testing.TB) drivers.Service {
	server := native.New(native.Options{Tick: 500 * time.Millisecond})
	client, err := zookeeper.New(zookeeper.Config{
		Servers: []string{"in-process"},
		Dial:    func(context.Context, string) (net.Conn, error) { return server.Dial("", "", 0) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return service{client, server}
}
