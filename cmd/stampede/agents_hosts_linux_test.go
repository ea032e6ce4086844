package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/internal/hosts"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/workloads/agents/control"
)

// A hostRun is a stampede run --agents whose agents are on hosts.
type hostRun struct {
	coordinator *exec.Cmd
	joined      func(words []string) // called with the command line of an agent before one is started
	agents      []*hosts.Host
	running     func() // called when all agents have joined
}

// lockOf8 is the load of these runs.
func lockOf8(duration time.Duration, agents int, target string, flags ...string) []string {
	return append([]string{"run", "lock", "--clients", "8", "--hold", "5ms", "--duration", duration.String(), "--backend", target,
		"--no-save", "-o", "json", "--agents", strconv.Itoa(agents)}, flags...)
}

// longEnough returns the result of a command that measures for the duration, for longer and longer where the
// machine is slow, until its runs have enough rounds.
func longEnough(t *testing.T, result func(time.Duration) results.File) results.File {
	t.Helper()
	const rounds, longest = 30, time.Minute
	for d := time.Second; ; d *= 4 {
		f := result(d)
		if !slices.ContainsFunc(f.Runs, func(r results.Run) bool { return r.Rounds < rounds }) {
			return f
		}
		if d > longest {
			t.Fatalf("fewer than %d rounds in %v", rounds, d)
		}
	}
}

// result runs all, and returns the result.
func (r hostRun) result(t *testing.T) results.File {
	t.Helper()
	var out, said bytes.Buffer
	r.coordinator.Stdout = &out
	pipe, err := r.coordinator.StderrPipe()
	if err == nil {
		err = r.coordinator.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(io.TeeReader(pipe, &said))
	words := wordsOfAgent(t, lines)
	r.joined(words)
	var agents []*exec.Cmd
	for i, h := range r.agents {
		a := h.Command(t.Context(), "stampede", append(words, "--name", fmt.Sprintf("h%d", i+1))...)
		awaitJoined(t, a)
		agents = append(agents, a)
	}
	r.running()
	_, _ = io.Copy(io.Discard, lines)
	if err := r.coordinator.Wait(); err != nil {
		t.Fatalf("the coordinator: %v: %s", err, said.String())
	}
	for i, a := range agents {
		if err := a.Wait(); err != nil {
			t.Errorf("agent %d: %v", i+1, err)
		}
	}
	f, err := results.Read(&out)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// wantCountsOfOneProcess fails the test unless the counts are those of one process with 8 clients.
func wantCountsOfOneProcess(t *testing.T, f results.File, agents int) {
	t.Helper()
	largest := map[string]int64{"predecessor": 1, "one-node": 7}
	if len(f.Runs) != len(largest) {
		t.Errorf("%d runs, want %d", len(f.Runs), len(largest))
	}
	for _, r := range f.Runs {
		if r.Herd.Fanout == nil || r.Herd.Fanout.Max != largest[r.Form] || r.Herd.Foreign > 0 || r.Safety.Violations > 0 || r.Safety.Checked == 0 {
			t.Errorf("%s: the fan-out of %d writes is %+v, safety %+v", r.Form, r.Herd.Triggers, r.Herd.Fanout, r.Safety)
		}
		if e := r.Cost.Expected; e == nil || len(e.Identities) == 0 || slices.ContainsFunc(e.Identities, func(i results.Identity) bool { return !i.Holds }) {
			t.Errorf("%s: identities %+v", r.Form, e)
		}
		sessions := 0
		for _, a := range r.Agents {
			sessions += a.Sessions
			if a.ClockErrorNS <= 0 || a.ClockErrorNS > time.Second {
				t.Errorf("%s: the clock of %s is known within ±%v", r.Form, a.Name, a.ClockErrorNS)
			}
		}
		if len(r.Agents) != agents || sessions != 8 {
			t.Errorf("%s: %d agents with %d sessions, want %d with 8", r.Form, len(r.Agents), sessions, agents)
		}
	}
}

// TestAgentsBehindSlowLinks has four agents on hosts whose clocks are wrong, and links that delay what they
// exchange with the coordinator and the service.
func TestAgentsBehindSlowLinks(t *testing.T) {
	testenv.SkipIfShort(t)
	delays := []hosts.Delay{{}, {There: time.Millisecond, Back: time.Millisecond}, {There: 2 * time.Millisecond}, {Back: 3 * time.Millisecond}}
	r := hostRun{running: func() {}}
	for i := range delays {
		r.agents = append(r.agents, hosts.Start(t, time.Duration(1+i*100_000)*time.Second))
	}
	_, service := startServe(t, "127.0.0.1:0")
	for i, h := range r.agents {
		h.Link(t, "tcp", service, delays[i])
	}
	r.joined = func(words []string) {
		url, token := words[2], words[4]
		for i, h := range r.agents {
			h.Link(t, "tcp", strings.Split(url, "/")[2], delays[i])
			h.Link(t, "udp", clockAddress(t, url, token), delays[i])
		}
	}
	f := longEnough(t, func(d time.Duration) results.File {
		r.coordinator = exec.CommandContext(t.Context(), "stampede", lockOf8(d, len(delays), "native://"+service)...)
		return r.result(t)
	})
	wantCountsOfOneProcess(t, f, len(delays))
	for _, run := range f.Runs {
		for _, a := range run.Agents {
			n, _ := strconv.Atoi(strings.TrimPrefix(a.Name, "h"))
			if d := delays[n-1]; a.ClockErrorNS < (d.There+d.Back)/2 {
				t.Errorf("a delay of %+v, but the clock of %s is known within ±%v", d, a.Name, a.ClockErrorNS)
			}
		}
	}
}

// clockAddress returns the address of the coordinator's clock.
func clockAddress(t *testing.T, url, token string) string {
	t.Helper()
	parsed, err := control.ParseToken(token)
	if err != nil {
		t.Fatal(err)
	}
	s, err := control.Protected(url, parsed)
	if err != nil {
		t.Fatal(err)
	}
	p, err := control.Connect(t.Context(), s, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	c, err := p.AwaitCoordinator(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c.Clock
}

// TestAgentsOnThreeMachines does what the first section of docs/agents.md says: a coordinator, a service and
// three agents are on hosts of one network.
func TestAgentsOnThreeMachines(t *testing.T) {
	testenv.SkipIfShort(t)
	coordinator := hosts.Start(t, 5*time.Second)
	coordinator.Plug(t, coordinator, "10.0.0.5/24")
	service := hosts.Start(t, 9*time.Second)
	service.Plug(t, coordinator, "10.0.0.9/24")
	r := hostRun{joined: func(words []string) {
		if words[2] != "etcd://10.0.0.5:7000/stampede" {
			t.Errorf("agents join %s, want that port", words[2])
		}
	}, running: func() {
		sockets, err := coordinator.Command(t.Context(), "cat", "/proc/net/udp").Output()
		if err != nil || !strings.Contains(string(sockets), "0500000A:1B58") { // 10.0.0.5:7000, little-endian
			t.Errorf("the clock is not at the same port: %s, %v", sockets, err)
		}
	}}
	for i := range 3 {
		h := hosts.Start(t, time.Duration(i)*time.Hour+time.Second)
		h.Plug(t, coordinator, fmt.Sprintf("10.0.0.%d/24", 11+i))
		r.agents = append(r.agents, h)
	}
	serve := service.Command(t.Context(), "stampede", "serve", "--listen", "10.0.0.9:2181")
	out, err := serve.StdoutPipe()
	if err == nil {
		err = serve.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("%q, %v", line, err)
	}
	f := longEnough(t, func(d time.Duration) results.File {
		r.coordinator = coordinator.Command(t.Context(), "stampede",
			lockOf8(d, len(r.agents), "native://10.0.0.9:2181", "--control-listen", "10.0.0.5:7000")...)
		return r.result(t)
	})
	wantCountsOfOneProcess(t, f, len(r.agents))
}
