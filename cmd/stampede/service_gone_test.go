package main

import (
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
)

// TestServiceGone checks that a run whose service has gone for good ends by itself when its sessions have
// ended, with exit code 1, says so in its result, and keeps what it measured.
func TestServiceGone(t *testing.T) {
	testenv.SkipIfShort(t)
	for name, length := range map[string][]string{
		"a number of rounds": {"--rounds", "1000000000"}, "a duration": {"--duration", "1h"}, "an open loop": {"--duration", "1h", "--rate", "200"},
		"a fault that explains nothing": {"--duration", "3s", "--fault", "at=0s cut client=1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			server := server.New(server.Options{MinTimeout: 1})
			go server.Serve(listener)
			defer server.Close()
			addr, file := listener.Addr().String(), filepath.Join(t.TempDir(), "run.json")
			line := append([]string{"run", "lock", "--form", "predecessor", "--backend", "zookeeper://" + addr + "?session-timeout=1s",
				"--clients", "4", "--warmup", "0", "--no-save", "-o", "json=" + file}, length...)
			var stderr bytes.Buffer
			run := exec.CommandContext(t.Context(), "stampede", line...)
			run.Stderr, run.Dir = &stderr, filepath.Dir(file)
			if err := run.Start(); err != nil {
				t.Fatal(err)
			}
			service, err := zookeeper.New(zookeeper.Config{Servers: []string{addr}})
			if err != nil {
				t.Fatal(err)
			}
			watcher, err := service.Dial(t.Context(), drivers.Options{})
			if err != nil {
				t.Fatal(err)
			}
			lock := awaitHolder(t, watcher)
			late := func(c drivers.Child) bool { return c.Seq >= 20 } // rounds have ended then
			for queue := []drivers.Child(nil); err == nil && !slices.ContainsFunc(queue, late); {
				queue, err = watcher.Children(t.Context(), lock, nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			go watcher.Close()
			server.Close()
			var exit *exec.ExitError
			if err := run.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(stderr.String(), "the service is gone: it last answered ") {
				t.Errorf("%v, want exit code 1; stderr: %s", err, &stderr)
			}
			wantPartial(t, file)
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			f, err := results.Read(bytes.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			if r := f.Runs[0]; r.Sessions.GivenUp != 4 || !slices.ContainsFunc(r.Doubts, func(w results.Warning) bool { return w.Code == metrics.ServiceLost }) {
				t.Errorf("%+v, doubts %+v", r.Sessions, r.Doubts)
			}
		})
	}
}
