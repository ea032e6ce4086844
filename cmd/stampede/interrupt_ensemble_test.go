package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
	awaiting "github.com/stampede-bench/stampede/internal/await"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// TestNothingOutlivesPaperFailures ends a scenario in which members fail with Ctrl-C, while one of them is dead. It checks
// that no process and no file is left, and that the run up to then is saved.
func TestNothingOutlivesPaperFailures(t *testing.T) {
	testenv.SkipIfShort(t)
	for _, e := range []trio{{"etcd:?servers=3&durability=no-fsync", 1}, {"zookeeper:?servers=3", 2}, {"native:?servers=3", 1}} {
		t.Run(e.backend, func(t *testing.T) {
			if _, err := zookeeper.FindInstallation(); e.backend[0] == 'z' && errors.Is(err, zookeeper.ErrNotInstalled) {
				backendtest.Lacking(t, err)
			}
			t.Parallel()
			endPaperFailures(t, e)
		})
	}
}

// A trio is an ensemble of three servers.
type trio struct {
	backend string
	member  int // processes of one member
}

func endPaperFailures(t *testing.T, e trio) {
	tmp, dir := t.TempDir(), t.TempDir()
	run := exec.CommandContext(t.Context(), "stampede", "run", "-f", "paper-failures", "--backend", e.backend, "--clients", "4")
	var stderr bytes.Buffer
	run.Stderr, run.Dir, run.Env = &stderr, dir, append(os.Environ(), "TMPDIR="+tmp)
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- run.Wait() }()
	whole := 2 + 3*e.member // stampede, the keeper of the members' directory, and the members
	awaitProcesses(t, tmp, whole, ended, &stderr)
	awaitProcesses(t, tmp, whole-e.member, ended, &stderr)
	if err := run.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	awaiting.Value(t, "the interrupted command ends", ended)
	if code := run.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d, want 130; stderr: %s", code, &stderr)
	}
	wantKilled(t, dir)
	if left := processes(t, tmp); len(left) > 0 { // stampede cleans up before it ends
		t.Errorf("processes %v are left", left)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// wantKilled checks that there is one saved run and that a member was killed in it.
func wantKilled(t *testing.T, dir string) {
	t.Helper()
	saved, _ := filepath.Glob(filepath.Join(dir, spec.SavedRuns, "*.json"))
	if len(saved) != 1 {
		t.Fatalf("saved %v, want one run", saved)
	}
	text, err := os.ReadFile(saved[0])
	if err != nil || !bytes.Contains(text, []byte(`"what": "kill member `)) {
		t.Errorf("%s tells of no member that was killed: %v", saved[0], err)
	}
}

// awaitProcesses waits until two consecutive looks find the wanted number of processes: a process
// that is just being started may be invisible for a moment.
func awaitProcesses(t *testing.T, tmp string, want int, ended <-chan error, stderr *bytes.Buffer) {
	t.Helper()
	look := time.NewTicker(lookForProcesses)
	defer look.Stop()
	for seen := 0; seen < 2; {
		if seen++; len(processes(t, tmp)) != want {
			seen = 0
		}
		select {
		case err := <-ended:
			t.Fatalf("it ended before: %v: %s", err, stderr)
		case <-look.C:
		}
	}
}

// awaitNobody waits until all processes have ended.
func awaitNobody(t *testing.T, tmp string) {
	t.Helper()
	look := time.NewTicker(lookForProcesses)
	defer look.Stop()
	for deadline := time.Now().Add(patience); ; <-look.C {
		left := processes(t, tmp)
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("processes %v are left", left)
		}
	}
}

const lookForProcesses = 50 * time.Millisecond

// processes returns the processes whose temporary directory is tmp: every process that a run starts
// inherits it. A zombie has an empty environment and is not counted.
func processes(t *testing.T, tmp string) (pids []string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil || len(all) == 0 {
		t.Fatalf("no processes: %v", err)
	}
	for _, name := range all {
		text, err := os.ReadFile(name)
		if err == nil && bytes.Contains(text, []byte("TMPDIR="+tmp+"\x00")) {
			pids = append(pids, strings.Split(name, "/")[2])
		}
	}
	return pids
}
