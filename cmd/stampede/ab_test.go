package main

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/archive"
	"github.com/stampede-bench/stampede/workloads/namespace"
)

// TestAbFindsASlowdown checks that ab finds a slowdown: base and candidate go through a proxy, and the
// proxy of the candidate delays every answer SLOWDOWN times as long. On an idle machine 1.2 is
// enough. The default is 4: a busy machine delays both by less than that.
func TestAbFindsASlowdown(t *testing.T) {
	testenv.SkipIfShort(t)
	times := 4.0
	if text := os.Getenv("SLOWDOWN"); text != "" {
		var err error
		if times, err = strconv.ParseFloat(text, 64); err != nil {
			t.Fatal(err)
		}
	}
	const answer = 8 * time.Millisecond
	server, _ := given(t)
	base, slow := delaying(t, server, answer), delaying(t, server, time.Duration(times*float64(answer)))
	c, code := ab(t, "zookeeper://"+base, "zookeeper://"+slow, "--metric", "rounds_per_s",
		"--pairs", "10", "--clients", "2", "--hold", "0", "--warmup", "0", "--rounds", "10")
	change := c.Changes[0]
	if len(change.Ratios) != 10 || *change.P > 0.05 || change.Effect.High >= 0 || change.Effect.Value > -0.05 {
		t.Errorf("ratios %.2f, p %v, %+v: want fewer rounds, by more than 5 %%", change.Ratios, *change.P, *change.Effect)
	}
	// If other machines take the processors away, ab reports that instead.
	if doubtful := change.Verdict == results.Invalid; !doubtful && (change.Verdict != results.Regression || code != cli.ExitRegression) {
		t.Errorf("%s, exit code %d: want a regression", change.Verdict, code)
	}
}

// ab compares base and candidate and returns the result and the exit code.
func ab(t *testing.T, base, other string, flags ...string) (results.Comparison, int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ab.json")
	cmd := exec.CommandContext(t.Context(), "stampede", append([]string{"ab", base, other, "--no-save", "--quiet", "-o", "json=" + file}, flags...)...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	v, err := archive.ReadAny(file)
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return v.(results.Comparison), cmd.ProcessState.ExitCode()
}

// TestAbRecordsTheOrderOfItsRuns checks that each run records its place in the order of runs, and
// that this order is the one drawn for its pair.
func TestAbRecordsTheOrderOfItsRuns(t *testing.T) {
	c, _ := ab(t, "lock/predecessor", "lock/one-node", "--metric", "rounds_per_s",
		"--pairs", "6", "--clients", "2", "--hold", "0", "--warmup", "0", "--rounds", "5", "--seed", "3")
	if len(c.NewFirst) != 6 || len(c.Base.Runs) != 6 || len(c.New.Runs) != 6 {
		t.Fatalf("%d orders, %d and %d runs", len(c.NewFirst), len(c.Base.Runs), len(c.New.Runs))
	}
	for i, newFirst := range c.NewFirst {
		first, second := c.Base.Runs[i], c.New.Runs[i]
		if newFirst {
			first, second = second, first
		}
		if first.Order != 2*i+1 || second.Order != 2*i+2 {
			t.Errorf("pair %d, new first %v: its runs are %d and %d in order, want %d and %d", i+1, newFirst, first.Order, second.Order, 2*i+1, 2*i+2)
		}
	}
}

// delaying returns the address of a proxy that forwards requests to the server immediately and
// delays the server's answers.
func delaying(t *testing.T, server string, by time.Duration) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			up, err := net.Dial("tcp", server)
			if err != nil {
				client.Close()
				continue
			}
			go func() {
				io.Copy(up, client)
				up.Close()
			}()
			go later(client, up, by)
		}
	}()
	return listener.Addr().String()
}

// later copies data and delays each piece by the same time.
func later(to, from net.Conn, by time.Duration) {
	type piece struct {
		due  time.Time
		text []byte
	}
	pieces := make(chan piece, 1024)
	go func() {
		defer close(pieces)
		for {
			text := make([]byte, 64<<10)
			n, err := from.Read(text)
			if n > 0 {
				pieces <- piece{time.Now().Add(by), text[:n]}
			}
			if err != nil {
				return
			}
		}
	}()
	for p := range pieces {
		time.Sleep(time.Until(p.due))
		to.Write(p.text)
	}
	to.Close()
}

// TestAbInterrupted checks that an interrupted ab writes the pairs that it has, decides nothing and
// leaves nothing behind, both if it does the runs itself and if other programs do.
func TestAbInterrupted(t *testing.T) {
	testenv.SkipIfShort(t)
	for _, c := range []struct{ name, variant string }{{"itself", ""}, {"programs", program(t) + " "}} {
		t.Run(c.name, func(t *testing.T) {
			addr, watcher := given(t)
			file := filepath.Join(t.TempDir(), "ab.json")
			var stderr bytes.Buffer
			run := exec.CommandContext(t.Context(), "stampede", "ab", c.variant+"lock", c.variant+"lock", "--backend", "zookeeper://"+addr,
				"--clients", "4", "--warmup", "0", "--duration", "1h", "-o", "json="+file)
			run.Stderr, run.Dir = &stderr, filepath.Dir(file)
			if err := run.Start(); err != nil {
				t.Fatal(err)
			}
			awaitHolder(t, watcher)
			if err := run.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			var exit *exec.ExitError
			if err := run.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 130 {
				t.Errorf("%v, want exit code 130; stderr: %s", err, &stderr)
			}
			wantUndecided(t, file)
			if _, there, err := watcher.Exists(t.Context(), namespace.Default, nil); err != nil || there {
				t.Errorf("%s is there: %v, %v", namespace.Default, there, err)
			}
		})
	}
}

// program returns a path of the stampede under test.
func program(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("stampede")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func wantUndecided(t *testing.T, file string) {
	t.Helper()
	v, err := archive.ReadAny(file)
	if err != nil {
		t.Fatal(err)
	}
	c := v.(results.Comparison)
	if !c.Interrupted || c.Verdict != "" || len(c.Base.Runs) != 0 || len(c.Changes) != 0 {
		t.Errorf("interrupted %v, verdict %q, %d runs: want nothing decided of no pair", c.Interrupted, c.Verdict, len(c.Base.Runs))
	}
}

// TestAbExitCodes checks that an inconclusive comparison passes unless --inconclusive says fail,
// and that an invalid one never passes.
func TestAbExitCodes(t *testing.T) {
	for _, c := range []struct {
		verdict      results.Verdict
		inconclusive string
		want         int
	}{
		{results.Improvement, "fail", cli.ExitOK}, {results.Pass, "fail", cli.ExitOK},
		{results.Inconclusive, "warn", cli.ExitOK}, {results.Inconclusive, "fail", cli.ExitInvalid},
		{results.Invalid, "warn", cli.ExitInvalid}, {results.Regression, "warn", cli.ExitRegression}, {results.Fail, "warn", cli.ExitViolation},
	} {
		j := &comparison{pairedRuns: &pairedRuns{app: new(app), progress: newProgress(io.Discard, true, new(course))}, flags: abFlags{inconclusive: c.inconclusive}}
		if c.want == cli.ExitViolation {
			j.file.New.Runs = []results.Run{{Safety: results.Safety{Violations: 1}}}
		}
		j.file.Changes = []results.Change{{Figure: "rounds_per_s", Gated: true, Verdict: c.verdict}, {Figure: "errors", Verdict: results.Regression}}
		got := cli.ExitOK
		if err := j.finish(nil, nil, nil); err != nil {
			got = cli.ExitCode(err)
		}
		if got != c.want || j.file.Verdict != c.verdict {
			t.Errorf("%s with --inconclusive %s: exit code %d, verdict %s; want %d", c.verdict, c.inconclusive, got, j.file.Verdict, c.want)
		}
	}
}

// TestAbTellsBrokenIdentities checks that a run whose counts are impossible under any schedule does
// not pass, whichever figures are compared.
func TestAbTellsBrokenIdentities(t *testing.T) {
	j := &comparison{pairedRuns: &pairedRuns{app: new(app), progress: newProgress(io.Discard, true, new(course))}}
	j.file.Changes = []results.Change{{Figure: "rounds_per_s", Gated: true, Verdict: results.Improvement}}
	j.file.New.Runs = []results.Run{{Cost: results.Cost{Expected: &results.Expected{Identities: []results.Identity{{Formula: "lists = N+K", Left: 1, Right: 2}}}}}}
	err := j.finish(nil, nil, nil)
	if err == nil || cli.ExitCode(err) != cli.ExitRegression || len(j.file.Warnings) != 1 || j.file.Warnings[0].Code != results.IdentityBroken || j.file.Warnings[0].Text != "candidate: IDENTITY BROKEN in 1 of 1 runs: lists = N+K" {
		t.Errorf("%v, %+v", err, j.file.Warnings)
	}
}
