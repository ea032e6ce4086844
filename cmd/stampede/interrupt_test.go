package main

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/workloads/namespace"
)

// TestInterrupted checks that a run that is interrupted in the middle ends its rounds, writes what
// it measured, removes its nodes and exits with the code of the signal. A run that was started with
// SIGHUP ignored continues after it.
func TestInterrupted(t *testing.T) {
	testenv.SkipIfShort(t)
	heedHangup(t)
	for name, c := range map[string]struct {
		under   []string // the command that starts stampede
		signals []os.Signal
		code    int
	}{
		"interrupt":          {nil, []os.Signal{syscall.SIGINT}, 130},
		"hangup under nohup": {[]string{"nohup"}, []os.Signal{syscall.SIGHUP, syscall.SIGTERM}, 143},
	} {
		t.Run(name, func(t *testing.T) {
			addr, watcher := given(t)
			file := filepath.Join(t.TempDir(), "run.json")
			var stderr bytes.Buffer
			line := append(c.under, "stampede", "run", "--backend", "zookeeper://"+addr,
				"--clients", "4", "--warmup", "0", "--duration", "1h", "--form", "predecessor,one-node", "-o", "json="+file)
			run := exec.CommandContext(t.Context(), line[0], line[1:]...)
			run.Stderr, run.Dir = &stderr, filepath.Dir(file)
			if err := run.Start(); err != nil {
				t.Fatal(err)
			}
			awaitHolder(t, watcher)
			for _, s := range c.signals {
				if err := run.Process.Signal(s); err != nil {
					t.Fatal(err)
				}
			}
			var exit *exec.ExitError
			if err := run.Wait(); !errors.As(err, &exit) || exit.ExitCode() != c.code {
				t.Errorf("%v, want exit code %d; stderr: %s", err, c.code, &stderr)
			}
			wantPartial(t, file)
			if _, there, err := watcher.Exists(t.Context(), namespace.Default, nil); err != nil || there {
				t.Errorf("%s is there: %v, %v", namespace.Default, there, err)
			}
			if saved, _ := filepath.Glob(filepath.Join(run.Dir, spec.SavedRuns, "*.json")); len(saved) != 1 {
				t.Errorf("saved %v, want the one run", saved)
			}
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(file), ".stampede-*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// heedHangup makes the programs that the test starts end at SIGHUP, though the tests may run under nohup: they
// inherit that a signal is ignored, but not that it is handled.
func heedHangup(t *testing.T) {
	handled := make(chan os.Signal, 1)
	signal.Notify(handled, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(handled) })
}

// given starts a server that stampede reaches by its address, and a session to watch it.
func given(t *testing.T) (addr string, watcher drivers.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := server.New(server.Options{})
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	service, err := zookeeper.New(zookeeper.Config{Servers: []string{listener.Addr().String()}})
	if err != nil {
		t.Fatal(err)
	}
	watcher, err = service.Dial(t.Context(), drivers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { watcher.Close() })
	return listener.Addr().String(), watcher
}

// awaitHolder waits until a client has queued for the run's lock, and returns the lock's path.
func awaitHolder(t *testing.T, c drivers.Conn) (lock string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	path := ""
	for _, name := range []string{namespace.Default, "", "/lock", ""} {
		if name != "" {
			path += name
			awaitNode(t, ctx, c, path)
			continue
		}
		lock = path
		path += "/" + awaitChild(t, ctx, c, path)
	}
	return lock
}

func awaitNode(t *testing.T, ctx context.Context, c drivers.Conn, path string) {
	t.Helper()
	var made drivers.Wait
	_, there, err := c.Exists(ctx, path, made.Fire)
	if err == nil && !there {
		_, err = made.Await(ctx)
	}
	if err != nil {
		t.Fatalf("waiting for %s: %v", path, err)
	}
}

func awaitChild(t *testing.T, ctx context.Context, c drivers.Conn, path string) string {
	t.Helper()
	for {
		var changed drivers.Wait
		children, err := c.Children(ctx, path, changed.Fire)
		for _, child := range children {
			if !strings.HasSuffix(child.Name, ".alive") { // it marks the run as alive
				return child.Name
			}
		}
		if err == nil {
			_, err = changed.Await(ctx)
		}
		if err != nil {
			t.Fatalf("waiting for a child of %s: %v", path, err)
		}
	}
}

func wantPartial(t *testing.T, file string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := results.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Interrupted || len(r.Runs) != 1 || r.Runs[0].Cost.WholeRounds == 0 {
		t.Errorf("interrupted %v, %d runs; want what was measured of the first", r.Interrupted, len(r.Runs))
	}
}
