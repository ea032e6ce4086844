package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
)

// documents returns the paths of all pages.
func documents(t *testing.T) (paths []string) {
	for _, pattern := range []string{"*.md", "docs/*.md", "*/README.md", "docs/*/*.md"} {
		found, err := filepath.Glob("../../" + pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("no %s (%v)", pattern, err)
		}
		paths = append(paths, found...)
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	return paths
}

// marks maps the words that can follow console on a block's first line to the exit codes that the
// block's commands may have, unless the page shows another with echo $?.
func marks() map[string][]int {
	return map[string][]int{
		"": {cli.ExitOK},
		// The finding depends on the machine.
		"verdict": {cli.ExitOK, cli.ExitInvalid, cli.ExitRegression, cli.ExitThreshold},
		// The hosts do not exist: everything is checked until stampede connects.
		"elsewhere": {cli.ExitError},
		// The test only checks that the command and its flags exist: the command does not end by
		// itself, takes long, or needs what not every machine has.
		"parse": {cli.ExitOK},
	}
}

// typeIn runs a command and returns an error if neither the mark nor the page allows its exit code.
// It skips a command whose requirements this machine lacks.
func typeIn(t *testing.T, dir, mark string, c typedLine) error {
	t.Helper()
	if lacks := missing(c.line); lacks != "" {
		t.Logf("line %d is not typed without %s: %s", c.number, lacks, c.line)
		return nil
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", c.line)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a process group, so that child processes end with it
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	path := dir + "/as-typed:" + os.Getenv("PATH")
	if mark == "parse" { // nothing of this machine, which could have the program of one page and take for ever
		path = dir + "/parsing:" + dir + "/as-typed"
	}
	cmd.Env = slices.Concat(os.Environ(), hurry(mark), []string{"HOME=" + dir, "TMPDIR=" + dir + "/tmp", "PATH=" + path})
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("line %d: %s: %w", c.number, c.line, err)
	}
	want := marks()[mark]
	if c.exit != nil {
		want = []int{*c.exit}
	}
	if got := cmd.ProcessState.ExitCode(); !slices.Contains(want, got) {
		return fmt.Errorf("line %d: %s: exit code %d, want one of %v:\n%s", c.number, c.line, got, want, out)
	}
	return nil
}

// wrongCommands checks that errors on a page are found.
func wrongCommands(t *testing.T) {
	dir, three := desk(t), 3
	for _, c := range []struct {
		mark  string
		typed typedLine
		wrong bool
	}{
		{"", typedLine{line: "stampede version"}, false},
		{"", typedLine{line: "stampede vesrion"}, true},
		{"", typedLine{line: "exit 3", exit: &three}, false},
		{"", typedLine{line: "stampede version", exit: &three}, true},
		{"verdict", typedLine{line: "exit 98"}, false},
		{"verdict", typedLine{line: "exit 96"}, true},
		{"elsewhere", typedLine{line: "stampede count --backend zookeeper://127.0.0.1:1"}, false},
		{"elsewhere", typedLine{line: "stampede count --backend zoo://127.0.0.1:1"}, true},
		{"parse", typedLine{line: "stampede serve --tick 1s && make test && go test -bench . ./docs"}, false},
		{"parse", typedLine{line: "stampede serve --tock 1s"}, true},
		{"parse", typedLine{line: "make tset"}, true},
		{"parse", typedLine{line: "go test ./dosc"}, true},
		{"parse", typedLine{line: "ls"}, true},
	} {
		if err := typeIn(t, dir, c.mark, c.typed); (err != nil) != c.wrong {
			t.Errorf("%q typed as %q: error %v, want one: %v", c.typed.line, c.mark, err, c.wrong)
		}
	}
}

// hurry returns settings that make runs short if the page does not set them.
func hurry(mark string) []string {
	if mark == "elsewhere" { // nothing runs, and a search refuses a single repetition
		return []string{"STAMPEDE_CONNECT_TIMEOUT=100ms"}
	}
	return []string{"STAMPEDE_DURATION=50ms", "STAMPEDE_WARMUP=10ms", "STAMPEDE_REPEAT=1"}
}

// missing names what a command needs and this machine lacks.
func missing(line string) string {
	if strings.Contains(line, "zookeeper:") && !strings.Contains(line, "zookeeper://") && os.Getenv("REQUIRE_BACKENDS") != "all" {
		if _, err := zookeeper.FindInstallation(); err != nil {
			return "Apache ZooKeeper"
		}
	}
	return ""
}
