package backendtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// plainConfig configures a standalone server.
const plainConfig = `dataDir=%s
clientPortAddress=127.0.0.1
clientPort=%s
tickTime=500
maxClientCnxns=0
admin.enableServer=false
4lw.commands.whitelist=*
`

// ZooKeeper starts an Apache ZooKeeper for one test, with additional lines for its zoo.cfg, and
// returns its address. If ZooKeeper is not installed, the test is skipped, or fails: see [Lacking].
func ZooKeeper(t testing.TB, lines string) (address string) {
	t.Helper()
	address = freeAddress(t)
	dir := t.TempDir()
	_, port, _ := net.SplitHostPort(address)
	server := launch(t, dir, fmt.Sprintf(plainConfig, dir, port)+lines)
	server.await(t, ensemble.Config{Servers: []string{address}})
	return address
}

// SharedZooKeeper returns the address of the Apache ZooKeeper that the packages of this test run
// share, or of one for this test if they share none.
func SharedZooKeeper(t testing.TB) (address string) {
	t.Helper()
	if address, ok := testenv.Server(testenv.ZooKeeper); ok {
		return address
	}
	return ZooKeeper(t, "")
}

// A launched server is starting.
type launched struct {
	ctx context.Context // ends with the server, or when the start takes too long
	log string
}

// launch starts a server in dir. The server ends with the test.
func launch(t testing.TB, dir, config string) launched {
	t.Helper()
	from, err := zookeeper.FindInstallation()
	if errors.Is(err, zookeeper.ErrNotInstalled) {
		Lacking(t, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "zoo.cfg"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	running, stop := context.WithCancel(context.Background())
	ctx, cancel := context.WithTimeout(running, startTime)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer cancel()
		runtime.LockOSThread() // the server ends with the thread that started it
		from.Command(running, dir, log).Run()
	}()
	t.Cleanup(func() {
		stop()
		<-ended
		log.Close()
	})
	return launched{ctx, log.Name()}
}

// await waits until the server accepts sessions.
func (l launched) await(t testing.TB, c ensemble.Config) {
	t.Helper()
	e, err := ensemble.New(c)
	if err != nil {
		t.Fatal(err)
	}
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for !serves(l.ctx, e) {
		select {
		case <-again.C:
		case <-l.ctx.Done():
			l.giveUp(t, context.Cause(l.ctx))
		}
	}
}

// serves asks the server with a short time-out: a server that is about to start never answers some
// of the requests that arrive just then.
func serves(ctx context.Context, e *ensemble.Ensemble) bool {
	ctx, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	answer, err := e.Word(ctx, e.Servers[0], "srvr")
	return err == nil && strings.Contains(answer, "Mode: ")
}

func (l launched) giveUp(t testing.TB, err error) {
	t.Helper()
	said, _ := os.ReadFile(l.log)
	t.Fatalf("%v; the server: %s", err, said)
}
