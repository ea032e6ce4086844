package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/lean"
	awaiting "github.com/stampede-bench/stampede/internal/await"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/workloads/namespace"
)

// A fleetProcess is a coordinator and its agents, as processes.
type fleetProcess struct {
	coordinator *exec.Cmd
	all         []*exec.Cmd   // the agents, and the coordinator
	errors      *bytes.Buffer // of the coordinator
	read        chan struct{} // closed when the coordinator has written all
}

var joinLine = regexp.MustCompile(`stampede (agent --join \S+ --token \S+)\n`)

// startFleet starts a run of agents on the service with the flags, and returns when all agents have joined. The
// control plane and its clock are at one port that the test has chosen.
func startFleet(t *testing.T, addr string, agents int, flags ...string) *fleetProcess {
	t.Helper()
	f, plane := &fleetProcess{errors: new(bytes.Buffer), read: make(chan struct{})}, testenv.Address(t)
	f.coordinator = exec.CommandContext(t.Context(), "stampede", append([]string{"run", "lock", "--form", "predecessor", "--clients", "6",
		"--backend", "native://" + addr, "--no-save", "--agents", strconv.Itoa(agents), "--control-listen", plane}, flags...)...)
	f.coordinator.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
	out, err := f.coordinator.StderrPipe()
	if err == nil {
		err = f.coordinator.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	words := wordsOfAgent(t, lines)
	if want := "etcd://" + plane + "/stampede"; words[2] != want {
		t.Errorf("agents join %s, want %s", words[2], want)
	}
	go func() {
		defer close(f.read)
		_, _ = io.Copy(f.errors, lines)
	}()
	for i := range agents {
		f.all = append(f.all, startAgent(t, append(words, "--name", fmt.Sprintf("a%d", i+1))))
	}
	f.all = append(f.all, f.coordinator)
	if c, err := net.ListenPacket("udp", plane); err == nil {
		c.Close()
		t.Errorf("no clock is at %s", plane)
	}
	return f
}

// wordsOfAgent returns the command line of an agent, which the coordinator prints.
func wordsOfAgent(t *testing.T, lines *bufio.Reader) []string {
	t.Helper()
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if found := joinLine.FindStringSubmatch(line); found != nil {
			return strings.Fields(found[1])
		}
	}
}

// startAgent starts an agent, and returns when it has joined.
func startAgent(t *testing.T, words []string) *exec.Cmd {
	t.Helper()
	a := exec.CommandContext(t.Context(), "stampede", words...)
	out, err := a.StderrPipe()
	if err == nil {
		err = a.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	if line, err := lines.ReadString('\n'); err != nil || !strings.Contains(line, "has joined") {
		t.Fatalf("an agent wrote %q, %v", line, err)
	}
	go io.Copy(io.Discard, lines)
	return a
}

// kill kills one of the processes.
func (*fleetProcess) kill(t *testing.T, p *exec.Cmd) {
	t.Helper()
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
}

// wait waits until all processes have ended.
func (f *fleetProcess) wait(t *testing.T) {
	t.Helper()
	awaiting.Value(t, "the coordinator has written all", f.read)
	for _, p := range f.all {
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = p.Wait() // its exit code depends on when it was disturbed
		}()
		awaiting.Value(t, fmt.Sprintf("%q ends", p.Args), ended)
	}
}

// wantNoRun fails the test if runs have left nodes on the service, on which nothing else has made the namespace.
func wantNoRun(t *testing.T, addr string) {
	t.Helper()
	s, err := lean.New(ensemble.Config{Servers: []string{addr}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Dial(t.Context(), drivers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if left, err := namespace.Clean(t.Context(), c, namespace.Default, true); err != nil || len(left) > 0 {
		t.Errorf("left on the service: %v, %v", left, err)
	}
	if _, exists, err := c.Exists(t.Context(), namespace.Default, nil); err != nil || exists {
		t.Errorf("%s is left on the service: %v, %v", namespace.Default, exists, err)
	}
}
