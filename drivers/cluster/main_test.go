package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/cluster"
	"github.com/stampede-bench/stampede/drivers/cluster/clustertest"
	"github.com/stampede-bench/stampede/drivers/cluster/reexec"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
)

// The native servers run in the test's binary, so that the race detector sees them.
func TestMain(m *testing.M) {
	holdAlive()
	clustertest.Dispatch(map[string]reexec.Role{"run": run, "native": cluster.InPlace(backends.RunNative)})
	os.Exit(m.Run())
}

// aliveVariable names the environment variable with the path of a named pipe, which every started
// process holds open for as long as it lives.
const aliveVariable = "STAMPEDE_TEST_ALIVE"

// holdAlive opens the pipe in a child. It stays open in the program that takes the place of the child, and in processes that
// the child starts.
func holdAlive() {
	pipe, isChild := os.Getenv(aliveVariable), os.Getenv(reexec.Variable) != ""
	if pipe == "" || !isChild {
		return
	}
	if _, err := syscall.Open(pipe, syscall.O_WRONLY, 0); err != nil {
		fmt.Fprintf(os.Stderr, "open %s: %v\n", pipe, err)
		os.Exit(1)
	}
}

// run opens a backend, stops the last of its servers, announces the IDs of all processes, and
// closes nothing.
func run(ctx context.Context, args []string, ready func(string)) error {
	target, err := backends.Parse(args[0])
	if err != nil {
		return err
	}
	service, err := target.Open(ctx)
	if err != nil {
		return err
	}
	members := service.(drivers.Ensemble).Members()
	if err := members[len(members)-1].Stop(); err != nil {
		return err
	}
	said := "open"
	for _, m := range members {
		said += fmt.Sprintf(" %d", cluster.PID(m))
	}
	ready(said)
	select {}
}

// patience is how long a test waits for a server. Only a bug takes that long, even on a busy
// machine. askTime limits one query, which may be lost.
const (
	patience = 10 * time.Minute
	askTime  = 10 * time.Second
)

// open starts a backend whose files are in a directory of the test.
func open(t *testing.T, url string) (s drivers.Ensemble, tmp string) {
	t.Helper()
	return openWith(t, url, backends.Options{})
}

func openWith(t *testing.T, url string, o backends.Options) (s drivers.Ensemble, tmp string) {
	t.Helper()
	need(t, url)
	clustertest.Use()
	tmp = t.TempDir()
	t.Setenv("TMPDIR", tmp)
	target, err := backends.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	if target, err = target.WithOptions(o); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	service, err := target.Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := service.Close(); err != nil {
			t.Error(err)
		}
	})
	return service.(drivers.Ensemble), tmp
}

// need skips a test that needs a ZooKeeper if there is none, unless ZooKeeper is required.
func need(t *testing.T, url string) {
	t.Helper()
	if _, err := zookeeper.FindInstallation(); url[0] == 'z' && errors.Is(err, zookeeper.ErrNotInstalled) {
		backendtest.Lacking(t, err)
	}
}

// empty checks that a directory is empty.
func empty(t *testing.T, tmp string) {
	t.Helper()
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}
