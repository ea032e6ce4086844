package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/lean"
	"github.com/stampede-bench/stampede/drivers/wire"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/workloads/agents/control"
	"github.com/stampede-bench/stampede/workloads/namespace"
)

// killedRuns is how many runs of agents lose a process; the variable KILLS overrides it.
const killedRuns = 3

// TestRunsOfAgentsSurviveNoKill kills an agent or the coordinator of a run: at any moment, at any moment of a run with
// faults, or when the service has created one of the nodes that the coordinator makes before it assigns the run. All other
// processes end by themselves, and nothing of the run is left on the service.
func TestRunsOfAgentsSurviveNoKill(t *testing.T) {
	testenv.SkipIfShort(t)
	_, addr := startServe(t, "127.0.0.1:0")
	var longest time.Duration
	rounds := numberOfKills()
	for i := range rounds {
		var f *fleetProcess
		release := func() {}
		switch i % 3 {
		case 2:
			proxy := startStalling(t, addr, 1+i/3%len(siteNodes), wire.OpCreate, wire.OpCreate2)
			f = startFleet(t, proxy.addr, 3, "--duration", "1m")
			proxy.awaitStall(t)
			release = func() { close(proxy.released) }
		case 1:
			f = startFleet(t, addr, 3, faultyFlags...)
			time.Sleep(time.Duration(rand.Int64N(int64(4 * time.Second)))) // any moment
		default:
			f = startFleet(t, addr, 3, "--duration", "1m")
			time.Sleep(time.Duration(rand.Int64N(int64(4 * time.Second)))) // any moment
		}
		victim := f.all[(i+i/3+3)%len(f.all)]
		f.kill(t, victim)
		release()
		killed := time.Now()
		f.wait()
		longest = max(longest, time.Since(killed))
		if victim != f.coordinator && !strings.Contains(f.errors.String(), "lost, and the clients that it ran with it") {
			t.Errorf("run %d: the coordinator does not name the lost agent: %s", i+1, f.errors.String())
		}
		wantNoRun(t, addr)
	}
	t.Logf("%d runs: the last process ended at most %v after the kill, %v after the end of the lease", rounds, longest, longest-control.Lease)
}

func numberOfKills() int {
	if n, err := strconv.Atoi(os.Getenv("KILLS")); err == nil {
		return n
	}
	return killedRuns
}

// TestRunsOfAgentsSurviveALeader kills the leader of the ensemble that is the control plane, at any moment of a run. The
// run completes, or its error names what was lost, and nothing of it is left on the service.
func TestRunsOfAgentsSurviveALeader(t *testing.T) {
	testenv.SkipIfShort(t)
	_, addr := startServe(t, "127.0.0.1:0")
	ensemble := backendtest.Own(t, "etcd:?servers=3").(drivers.Ensemble)
	address, err := backends.Address(ensemble)
	servers, _, _ := strings.Cut(address, "?")
	if err != nil {
		t.Fatal(err)
	}
	var longest time.Duration
	completed, rounds := 0, numberOfKills()
	for i := range rounds {
		plane := fmt.Sprintf("%s/run-%d", servers, i)
		f := startFleetOn(t, plane, addr, 3, "--duration", "3s", "-o", "json")
		time.Sleep(time.Duration(rand.Int64N(int64(4 * time.Second)))) // any moment
		leader := leaderOf(t, ensemble)
		if err := leader.Kill(); err != nil {
			t.Fatal(err)
		}
		killed := time.Now()
		f.wait()
		longest = max(longest, time.Since(killed))
		if err := leader.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantNoRun(t, addr)
		if f.coordinator.ProcessState.ExitCode() == cli.ExitOK {
			completed++
			r, err := results.Read(strings.NewReader(f.out.String()))
			if err != nil || len(r.Runs) != 1 || r.Interrupted || r.Runs[0].DurationNS < 3*time.Second || r.Runs[0].Safety.Violations > 0 || len(r.Runs[0].Agents) != 3 {
				t.Errorf("run %d: %+v, %v", i+1, r, err)
			}
		} else if told := f.errors.String(); !strings.Contains(told, "control plane") && !strings.Contains(told, "stampede: agent a") {
			t.Errorf("run %d: the error does not name what was lost: %s", i+1, told)
		}
	}
	if completed == 0 {
		t.Errorf("none of %d runs completed", rounds)
	}
	t.Logf("%d of %d runs completed; the last process ended at most %v after the kill", completed, rounds, longest)
}

// leaderOf returns the leader of the ensemble, for which it waits.
func leaderOf(t *testing.T, e drivers.Ensemble) drivers.Member {
	t.Helper()
	for {
		for _, m := range e.Members() {
			if leads, err := m.Leads(t.Context()); err == nil && leads {
				return m
			}
		}
		if t.Context().Err() != nil {
			t.Fatal("no member leads")
		}
	}
}

// A fleetProcess is a coordinator and its agents, as processes.
type fleetProcess struct {
	coordinator *exec.Cmd
	all         []*exec.Cmd   // the agents, and the coordinator
	out, errors *bytes.Buffer // of the coordinator
	read        chan struct{} // closed when the coordinator has written all
}

var joinLine = regexp.MustCompile(`stampede (agent --join \S+ --token \S+)\n`)

// startFleet starts a run of agents on the service with the flags, and returns when all agents have joined.
func startFleet(t *testing.T, addr string, agents int, flags ...string) *fleetProcess {
	t.Helper()
	f, lines := startCoordinator(t, addr, agents, flags)
	f.join(t, lines, wordsOfAgent(t, lines), agents)
	return f
}

// startFleetOn is startFleet with a control plane that is there already.
func startFleetOn(t *testing.T, plane, addr string, agents int, flags ...string) *fleetProcess {
	t.Helper()
	f, lines := startCoordinator(t, addr, agents, append(flags, "--control", plane))
	f.join(t, lines, []string{"agent", "--join", plane}, agents)
	return f
}

// startCoordinator starts a run of agents on the service. The caller reads the lines of its standard error.
func startCoordinator(t *testing.T, addr string, agents int, flags []string) (*fleetProcess, *bufio.Reader) {
	t.Helper()
	f := &fleetProcess{out: new(bytes.Buffer), errors: new(bytes.Buffer), read: make(chan struct{})}
	f.coordinator = exec.CommandContext(t.Context(), "stampede", append([]string{"run", "lock", "--form", "predecessor", "--clients", "6",
		"--backend", "native://" + addr, "--no-save", "--agents", strconv.Itoa(agents)}, flags...)...)
	f.coordinator.Env, f.coordinator.Stdout = append(os.Environ(), "TMPDIR="+t.TempDir()), f.out
	out, err := f.coordinator.StderrPipe()
	if err == nil {
		err = f.coordinator.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return f, bufio.NewReader(out)
}

// join starts the agents with the words, and returns when all have joined.
func (f *fleetProcess) join(t *testing.T, lines *bufio.Reader, words []string, agents int) {
	t.Helper()
	go func() {
		defer close(f.read)
		_, _ = io.Copy(f.errors, lines)
	}()
	for i := range agents {
		f.all = append(f.all, startAgent(t, append(words, "--name", fmt.Sprintf("a%d", i+1))))
	}
	f.all = append(f.all, f.coordinator)
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
	awaitJoined(t, a)
	return a
}

// awaitJoined starts an agent, and returns when it has joined.
func awaitJoined(t *testing.T, a *exec.Cmd) {
	t.Helper()
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
}

// kill kills one of the processes.
func (*fleetProcess) kill(t *testing.T, p *exec.Cmd) {
	t.Helper()
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
}

// wait waits until all processes have ended.
func (f *fleetProcess) wait() {
	<-f.read
	for _, p := range f.all {
		_ = p.Wait() // its exit code depends on when it was disturbed
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
