package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	awaiting "github.com/stampede-bench/stampede/internal/await"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/schema"
)

// TestTheResultSaysWhichAgentWasLost kills an agent in a run of three. A threshold that depends on what is missing
// is invalid, whether the run ends or continues.
func TestTheResultSaysWhichAgentWasLost(t *testing.T) {
	testenv.SkipIfShort(t)
	for outcome, want := range map[string]struct {
		flags []string
		code  int
		says  string
	}{
		"end":           {[]string{"--duration", "1m", "--threshold", "notifications_per_round < 100"}, cli.ExitError, "agent a2: lost, and the clients that it ran with it"},
		"continue":      {[]string{"--duration", "8s", "--on-agent-loss", "continue", "--threshold", "notifications_per_round < 100"}, cli.ExitInvalid, "INVALID: the threshold is not decided"},
		"continue-safe": {[]string{"--duration", "8s", "--on-agent-loss", "continue", "--threshold", "safety.violations == 0"}, cli.ExitOK, ""},
	} {
		t.Run(outcome, func(t *testing.T) {
			t.Parallel()
			_, addr := startServe(t, "127.0.0.1:0")
			file := filepath.Join(t.TempDir(), "run.json")
			f := startFleet(t, addr+"?session-timeout=2s", 3, append(want.flags, "--quiet", "--warmup", "0", "-o", "json="+file)...)
			awaitWrites(t, addr, 500)
			time.Sleep(2 * time.Second) // the agents tell of their rounds each second
			if err := f.all[1].Process.Kill(); err != nil {
				t.Fatal(err)
			}
			f.wait(t)
			if code := f.coordinator.ProcessState.ExitCode(); code != want.code || !strings.Contains(f.errors.String(), want.says) {
				t.Errorf("exit code %d, want %d: %s", code, want.code, f.errors.String())
			}
			wantNoRun(t, addr)
			wantLostAgent(t, file, outcome == "end")
		})
	}
}

// awaitWrites waits until the server has executed so many writes.
func awaitWrites(t *testing.T, addr string, n int64) {
	t.Helper()
	awaiting.True(t, fmt.Sprintf("the server has executed %d writes", n), func() bool {
		answer := ask(t, addr, "srvr")
		_, after, found := strings.Cut(answer, "Zxid: 0x")
		zxid, _, _ := strings.Cut(after, "\n")
		writes, err := strconv.ParseInt(zxid, 16, 64)
		if err != nil || !found {
			t.Fatalf("the server answers %q, %v", answer, err)
		}
		return writes >= n
	})
}

// wantLostAgent fails the test unless the result says that a2 was lost, what is missing with it, and that it
// ended the command, if it did.
func wantLostAgent(t *testing.T, file string, ended bool) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(results.KindRun, text); err != nil {
		t.Error(err)
	}
	f, err := results.Read(strings.NewReader(string(text)))
	if err != nil || len(f.Runs) != 1 || f.Interrupted != ended {
		t.Fatalf("%d runs, interrupted %v, %v", len(f.Runs), f.Interrupted, err)
	}
	r := f.Runs[0]
	for _, a := range r.Agents {
		if lost := a.Lost != nil; lost != (a.Name == "a2") {
			t.Errorf("agent %s: lost %+v", a.Name, a.Lost)
		}
	}
	if len(r.Agents) != 3 || r.Rounds == 0 || r.Safety.Violations > 0 || r.Safety.Checked == 0 {
		t.Errorf("%d agents, %d rounds, safety %+v", len(r.Agents), r.Rounds, r.Safety)
	}
	if e := r.Cost.Expected; e == nil || e.Invalid != metrics.AgentLost || len(e.Identities) > 0 {
		t.Errorf("the identities are %+v, want that they are invalid", e)
	}
	if !slices.ContainsFunc(r.Doubts, func(w results.Warning) bool {
		return w.Code == metrics.AgentLost && strings.HasPrefix(w.Text, "agent a2: lost ")
	}) {
		t.Errorf("the doubts are %+v, want that a2 was lost", r.Doubts)
	}
}
