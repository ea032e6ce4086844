package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"syscall"
	"testing"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
)

var announced = regexp.MustCompile(`^serving on (127\.0\.0\.1:\d+), (member \d of 3, )?durability (memory: the data ends with the process|fsync: it is in .*)\n$`)

// TestServeEndsOnSignal checks that either signal ends the server with success.
func TestServeEndsOnSignal(t *testing.T) {
	for _, signal := range []os.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			cmd, addr := startServe(t, "127.0.0.1:0")
			wantServed(t, addr)
			endsOn(t, cmd, signal)
		})
	}
}

// endsOn sends a signal to a server that has said that it serves. The server ends with success.
func endsOn(t *testing.T, cmd *exec.Cmd, signal os.Signal) {
	t.Helper()
	if err := cmd.Process.Signal(signal); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v, want exit code 0", err)
	}
}

func TestServeWherePortIsTaken(t *testing.T) {
	_, addr := startServe(t, "127.0.0.1:0")
	second := exec.CommandContext(t.Context(), "stampede", "serve", "--listen", addr)
	var stderr bytes.Buffer
	second.Stderr = &stderr
	second.Run()
	want := "stampede: --listen " + addr + ": cannot serve there: bind: address already in use\n"
	if code := second.ProcessState.ExitCode(); code != cli.ExitError || stderr.String() != want {
		t.Errorf("exit code %d and %q, want %d and %q", code, &stderr, cli.ExitError, want)
	}
}

// startServe starts a server, waits until it says that it serves, and returns its address.
func startServe(t testing.TB, listen string, flags ...string) (cmd *exec.Cmd, addr string) {
	t.Helper()
	return startServeTelling(t, nil, listen, flags...)
}

// startServeTelling is like startServe for a server whose standard error goes to a writer, which may be nil.
func startServeTelling(t testing.TB, complaints io.Writer, listen string, flags ...string) (cmd *exec.Cmd, addr string) {
	t.Helper()
	cmd = exec.CommandContext(t.Context(), "stampede", append([]string{"serve", "--listen", listen}, flags...)...)
	cmd.Stderr = complaints
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Wait() }) // which the end of the test's context kills
	line, err := bufio.NewReader(out).ReadString('\n')
	found := announced.FindStringSubmatch(line)
	if err != nil || found == nil {
		t.Fatalf("%q, %v: want a line that says where it serves", line, err)
	}
	return cmd, found[1]
}

func wantServed(t *testing.T, addr string) {
	t.Helper()
	service, err := zookeeper.New(zookeeper.Config{Servers: []string{addr}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := service.Dial(t.Context(), drivers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, there, err := c.Exists(t.Context(), "/zookeeper", nil); err != nil || !there {
		t.Errorf("/zookeeper is there: %v, %v", there, err)
	}
}

// A signal that comes after the server has announced its address, and before it accepts there, ends
// it with success too.
func TestServeEndsBeforeItAccepts(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := server.New(server.Options{})
	s.Close()
	if err := (serveListeners{{Listener: l}}).serve(ctx, s); !errors.Is(err, errEnded) {
		t.Errorf("%v, want %v", err, errEnded)
	}
}
