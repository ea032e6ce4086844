package observe

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// TestTheCommandFindsTheHerd runs the programs of this package by stampede observe: the command
// fails with the lock on one node, though the programs' own tests pass, and passes with the
// predecessor form.
func TestTheCommandFindsTheHerd(t *testing.T) {
	testenv.SkipIfShort(t)
	stampede := filepath.Join(t.TempDir(), "stampede")
	build(t, "build", "-o", stampede, "../../cmd/stampede")
	t.Run("Go", func(t *testing.T) {
		tests := filepath.Join(t.TempDir(), "observe.test")
		build(t, "test", "-c", "-o", tests, ".")
		findsTheHerd(t, stampede, tests, "-test.run", "TakeTurns")
	})
	t.Run("Python", func(t *testing.T) {
		findsTheHerd(t, stampede, backendtest.Python(t, "kazoo", "python3-kazoo"), "lock_test.py")
	})
	t.Run("Java", func(t *testing.T) {
		java, classpath := backendtest.Curator(t)
		findsTheHerd(t, stampede, java, "-XX:-UsePerfData", "-cp", classpath, "LockTest.java")
	})
}

func findsTheHerd(t *testing.T, stampede string, command ...string) {
	t.Helper()
	for lock, want := range map[string]struct {
		code  int
		words []string
	}{
		"one-node":    {99, []string{"HERD", "lock or election, one node"}},
		"predecessor": {0, []string{"No herd", "lock or election, predecessor"}},
	} {
		c := exec.CommandContext(t.Context(), stampede, append([]string{"observe", "--no-save", "--env", "ZK_CONNECT={address}",
			"--env", "LOCK=" + lock, "--threshold", "fanout.max <= 2", "--"}, command...)...)
		c.Env = append(os.Environ(), "NO_COLOR=1")
		out, err := c.CombinedOutput()
		if c.ProcessState == nil || c.ProcessState.ExitCode() != want.code {
			t.Fatalf("%s: %v, want exit code %d:\n%s", lock, err, want.code, out)
		}
		for _, w := range append(want.words, "ended with exit code 0") {
			if !strings.Contains(string(out), w) {
				t.Errorf("%s: no %q in:\n%s", lock, w, out)
			}
		}
	}
}

func build(t *testing.T, arguments ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "go", arguments...).CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(arguments, " "), err, out)
	}
}
