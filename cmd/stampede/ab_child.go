package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/defaults"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/drivers/cluster/reexec"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/workloads"
)

// childGrace is how long another stampede may take to end its run and remove its nodes after
// SIGTERM.
const childGrace = 20 * time.Second

// runBinary runs another stampede binary for one run and reads its result.
func (s variant) runBinary(ctx context.Context, f spec.Flags) (*results.Run, error) {
	var stdout, stderr bytes.Buffer
	child := exec.CommandContext(ctx, s.binary, childArguments(f, s.form.Recipe)...)
	child.Stdout, child.Stderr, child.Env = &stdout, &stderr, childEnvironment(f)
	// The child has its own process group, so that an interruption from the terminal reaches only
	// this process, which passes it on once: a second signal would kill the child before it removes
	// its nodes.
	//
	// Note: the parent-death signal (PDEATHSIG) is not used. The kernel would send it when the
	// thread that started the child ends, which may be long before this process ends. Without it, a
	// child whose parent was killed still ends its run and removes its nodes.
	child.SysProcAttr = reexec.OwnGroup()
	child.Cancel = func() error { return child.Process.Signal(syscall.SIGTERM) }
	child.WaitDelay = childGrace
	ended := child.Run()
	if ctx.Err() != nil {
		return nil, workloads.ErrInterrupted
	}
	run, err := childResult(ended, &stdout, stderr.String())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.binary, err)
	}
	return run, nil
}

// childResult reads the result of a child that has ended in this way.
func childResult(ended error, stdout io.Reader, stderr string) (*results.Run, error) {
	var exit *exec.ExitError
	if errors.As(ended, &exit) && exit.ExitCode() >= cli.ExitViolation && exit.ExitCode() <= cli.ExitThreshold {
		ended = nil // the run completed; the exit code is its verdict
	}
	if ended != nil {
		return nil, fmt.Errorf("%w: %s", ended, lastLine(stderr))
	}
	file, err := results.Read(stdout)
	if err != nil {
		return nil, err
	}
	if len(file.Runs) != 1 {
		return nil, fmt.Errorf("%d runs in its result, want one", len(file.Runs))
	}
	return &file.Runs[0], nil
}

func childArguments(f spec.Flags, recipe string) []string {
	line := f.Command([]string{recipe})[1:]
	if at := slices.Index(line, "--user"); at >= 0 {
		line = slices.Delete(line, at, at+2) // the value is redacted; childEnvironment passes the user in a variable
	}
	return append(line, "-o", "json", "--no-save", "--quiet")
}

// childEnvironment returns the environment without the variables that stand for flags: the
// arguments already carry their values. It keeps the variable that names the project's defaults, and the password variable only if a user is given
// whose password is not in a file.
func childEnvironment(f spec.Flags) []string {
	needed := f.Security.User != "" && f.Security.PasswordFile == ""
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "STAMPEDE_") && !strings.HasPrefix(v, defaults.Variable+"=") && !(needed && strings.HasPrefix(v, spec.PasswordVariable+"="))
	})
	if f.Security.User != "" {
		env = append(env, "STAMPEDE_USER="+f.Security.User)
	}
	return env
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimPrefix(lines[len(lines)-1], "stampede: ")
}
