package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/workloads"
)

// childGrace is how long another stampede may take to end its run and take its
// nodes away when it is told to.
const childGrace = 20 * time.Second

// runBinary has another stampede do a run.
func (s side) runBinary(ctx context.Context, f runFlags) (*results.Run, error) {
	child := exec.CommandContext(ctx, s.binary, childArguments(f, s.form.Recipe)...)
	var stdout, stderr bytes.Buffer
	child.Stdout, child.Stderr, child.Env = &stdout, &stderr, childEnvironment(f)
	// A terminal's interruption is for this process only, which passes it on once:
	// a second one would keep the child from taking its nodes away.
	//
	// Note: the kernel is not asked to signal the child when this process is killed.
	// It would do so when the thread ends that started the child, which may be long
	// before. As it is the child ends its run and takes its nodes away.
	child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	child.Cancel = func() error { return child.Process.Signal(syscall.SIGTERM) }
	child.WaitDelay = childGrace
	ended := child.Run()
	if ctx.Err() != nil {
		return nil, workloads.ErrInterrupted
	}
	var exit *exec.ExitError
	if errors.As(ended, &exit) && exit.ExitCode() >= exitViolation && exit.ExitCode() <= exitThreshold {
		ended = nil // it went through, and found something
	}
	if ended != nil {
		return nil, fmt.Errorf("%s: %w: %s", s.binary, ended, lastLine(stderr.String()))
	}
	file, err := results.Read(&stdout)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.binary, err)
	}
	if len(file.Runs) != 1 {
		return nil, fmt.Errorf("%s: %d runs in its result, want one", s.binary, len(file.Runs))
	}
	return &file.Runs[0], nil
}

func childArguments(f runFlags, recipe string) []string {
	line := f.command([]string{recipe})[1:]
	if at := slices.Index(line, "--user"); at >= 0 {
		line = slices.Delete(line, at, at+2) // it is redacted, and goes by its variable
	}
	return append(line, "-o", "json", "--no-save", "--quiet")
}

// childEnvironment has none of the variables that stand for flags: what they say
// is among the arguments already. It has a password only for a user whose password
// is not in a file.
func childEnvironment(f runFlags) []string {
	needed := f.security.User != "" && f.security.passwordFile == ""
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "STAMPEDE_") && !(needed && strings.HasPrefix(v, passwordVariable+"="))
	})
	if f.security.User != "" {
		env = append(env, "STAMPEDE_USER="+f.security.User)
	}
	return env
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimPrefix(lines[len(lines)-1], "stampede: ")
}
