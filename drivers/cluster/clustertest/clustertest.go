// Package clustertest lets tests start servers as processes. They run in the program [Program], not in the test's
// binary: etcd's server would add 50 MB to that, and the race detector would slow servers that are not under
// test.
package clustertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/drivers/cluster/reexec"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// Program is the package of the program that has the roles of all servers. It is smaller than stampede, and changes less often:
// go test runs the packages that start servers again when it has changed.
const Program = "github.com/stampede-bench/stampede/drivers/cluster/clustertest/servers"

// Dispatch is reexec.Dispatch for a TestMain whose tests start servers. A child in a role of own runs in the test's
// binary, and a child in any other role in the program that the test run has built ([testenv.Servers]). Without one, the
// first child builds it.
func Dispatch(own map[string]reexec.Role) {
	role, isChild := os.LookupEnv(reexec.Variable)
	switch {
	case !isChild:
		os.Stat(os.Getenv(testenv.Servers)) // so that go test knows that the results depend on it
		os.Setenv(began, strconv.FormatInt(time.Now().UnixNano(), 10))
		return
	case own[role] != nil:
		reexec.Dispatch(own)
	}
	err := become()
	reexec.Dispatch(map[string]reexec.Role{role: func(context.Context, []string, func(string)) error { return err }})
}

// began is the environment variable with the time at which the test's process began, in nanoseconds.
const began = "TEST_BEGAN"

// become replaces this process with the program. It returns why it cannot.
func become() error {
	program := os.Getenv(testenv.Servers)
	if program == "" {
		ns, _ := strconv.ParseInt(os.Getenv(began), 10, 64)
		var err error
		if program, err = buildSince(context.Background(), time.Unix(0, ns)); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s: %w", program, replaceProcess(program))
}

// Build builds the program and returns its path, which does not change: go test would not use a result that it has kept. The
// working directory must be in the module.
func Build(ctx context.Context) (path string, err error) { return buildSince(ctx, time.Now()) }

// buildSince builds the program unless it was built after a time. The processes of several packages may build at once.
func buildSince(ctx context.Context, t time.Time) (path string, err error) {
	file, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("find the module of %s: %w", Program, err)
	}
	root := filepath.Dir(strings.TrimSpace(string(file)))
	path = filepath.Join(root, ".build", "servers")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	built, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return "", err
	}
	defer built.Close()
	if err := lock(built); err != nil {
		return "", err
	}
	if s, err := built.Stat(); err == nil && s.Size() > 0 && s.ModTime().After(t) {
		return path, nil
	}
	// A commit alone does not change the program.
	c := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", path, Program)
	c.Dir = root
	if said, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w: %s", Program, err, said)
	}
	_, err = built.WriteAt([]byte("built\n"), 0)
	return path, errors.Join(err, os.Chtimes(built.Name(), time.Time{}, time.Now()))
}
