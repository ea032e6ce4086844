package main

import (
	"bufio"
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/results"
)

// TestAStarvedAgentIsNamed has an agent that does not get CPU half of the time. The merged latencies are
// doubtful because of it, and a threshold on one that is not met is invalid.
func TestAStarvedAgentIsNamed(t *testing.T) {
	testenv.SkipIfShort(t)
	c := exec.CommandContext(t.Context(), "stampede", "run", "mix", "--clients", "4", "--think", "20ms", "--duration", "3s", "--no-save", "--quiet",
		"--agents", "2", "--threshold", "read.p50<1us", "-o", "json")
	var out bytes.Buffer
	c.Stdout = &out
	said, err := c.StderrPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	words := wordsOfAgent(t, bufio.NewReader(said))
	var agents []*exec.Cmd
	for _, name := range []string{"steady", "starved"} {
		agents = append(agents, startAgent(t, append(words, "--name", name)))
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	starve(agents[1], ended)
	for _, a := range agents {
		if err := a.Wait(); err != nil {
			t.Error(err)
		}
	}
	f, err := results.Read(&out)
	if err != nil {
		t.Fatal(err)
	}
	if code := c.ProcessState.ExitCode(); code != cli.ExitInvalid {
		t.Errorf("exit code %d, want %d: a threshold on a doubtful time is invalid", code, cli.ExitInvalid)
	}
	for _, all := range [][]results.Warning{f.Runs[0].Warnings, f.Runs[0].Doubts} {
		if !slices.ContainsFunc(all, func(w results.Warning) bool {
			return w.Agent() == "starved" && w.Code == "cpu-starved" && strings.HasPrefix(w.Text, "agent starved: generator short of CPU: ")
		}) {
			t.Errorf("nothing of the agent in %+v", all)
		}
	}
}

// starve stops the process and continues it in turns, until ended has a value.
func starve(p *exec.Cmd, ended chan error) {
	turn := time.NewTicker(100 * time.Millisecond)
	defer turn.Stop()
	defer p.Process.Signal(syscall.SIGCONT)
	for signal := syscall.SIGSTOP; ; {
		select {
		case <-ended:
			return
		case <-turn.C:
			_ = p.Process.Signal(signal)
			signal = syscall.SIGSTOP + syscall.SIGCONT - signal // alternates between the two
		}
	}
}
