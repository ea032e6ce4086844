package pipeline_test

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"

	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/child"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
)

// local starts the one Apache ZooKeeper of all tests that need one, when the
// first does.
var local = sync.OnceValues(startLocal)

// stopLocal ends it.
var stopLocal = func() {}

func TestMain(m *testing.M) {
	child.Dispatch(backends.Roles())
	code := m.Run()
	stopLocal()
	os.Exit(code)
}

func startLocal() (string, error) {
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- zookeeper.RunLocal(ctx, func(a string) { ready <- a }) }()
	stopLocal = func() {
		cancel()
		<-ended
	}
	select {
	case a := <-ready:
		return a, nil
	case err := <-ended:
		ended <- nil
		return "", err
	}
}

// apache is its address. The test is skipped, or fails, where it cannot be had.
func apache(tb testing.TB) string {
	tb.Helper()
	address, err := local()
	switch {
	case errors.Is(err, zookeeper.ErrNotInstalled) && os.Getenv("REQUIRE_BACKENDS") != "all":
		tb.Skip(err)
	case err != nil:
		tb.Fatal(err)
	}
	return address
}
