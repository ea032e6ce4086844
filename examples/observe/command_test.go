package observe

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
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
	t.Run("Python", func(t *testing.T) { findsTheHerd(t, stampede, kazooPython(t), "lock_test.py") })
	t.Run("Java", func(t *testing.T) {
		java, classpath := curatorJava(t)
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

// kazooPython returns a Python that has kazoo; only the system's own may have it.
func kazooPython(t *testing.T) string {
	t.Helper()
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.CommandContext(t.Context(), python, "-c", "import kazoo").Run() == nil {
			return python
		}
	}
	backendtest.Lacking(t, errors.New("kazoo is not installed: apt-get install python3-kazoo"))
	return ""
}

// curatorJava returns a Java that compiles, and a class path with Curator.
func curatorJava(t *testing.T) (java, classpath string) {
	t.Helper()
	from, err := zookeeper.FindInstallation()
	if err != nil {
		backendtest.Lacking(t, err)
	}
	jars := filepath.SplitList(from.Classpath)
	for _, name := range []string{"curator-client", "curator-framework", "curator-recipes", "slf4j-nop"} {
		jar := "/usr/share/java/" + name + ".jar"
		if _, err := os.Stat(jar); err != nil {
			backendtest.Lacking(t, errors.New("Curator is not installed: apt-get install libcurator-recipes-java"))
		}
		jars = append(jars, jar)
	}
	if out, err := exec.CommandContext(t.Context(), from.Java, "-m", "jdk.compiler/com.sun.tools.javac.Main", "-version").CombinedOutput(); err != nil {
		backendtest.Lacking(t, fmt.Errorf("no Java compiler is installed: apt-get install default-jdk-headless (%s)", out))
	}
	return from.Java, strings.Join(jars, string(filepath.ListSeparator))
}

func build(t *testing.T, arguments ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "go", arguments...).CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(arguments, " "), err, out)
	}
}
