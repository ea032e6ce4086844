// Package clustertest lets tests start servers as processes. They run in the program [Program], not in the test's
// binary: etcd's server would add 50 MB to that, and the race detector would slow servers that are not under
// test.
package clustertest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
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
		os.Setenv(began, strconv.FormatInt(time.Now().UnixNano(), 10))
		return
	case own[role] != nil:
		reexec.Dispatch(own)
	}
	err := become()
	reexec.Dispatch(map[string]reexec.Role{role: func(context.Context, []string, func(string)) error { return err }})
}

// Use tells go test that the results of the tests depend on the program. Call it in a test, before it starts a server: go test does not
// see what a TestMain reads.
func Use() {
	if program := os.Getenv(testenv.Servers); program != "" {
		os.Stat(program)
	}
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

// Build builds the program and returns its path. The file and its time change only with the program, or go test would
// run again what it has kept a result of. The working directory must be in the module.
func Build(ctx context.Context) (path string, err error) {
	path, locked, err := take(ctx)
	if err != nil {
		return "", err
	}
	defer locked.Close()
	return path, compile(ctx, path)
}

// buildSince is Build, unless it has built the program after a time.
func buildSince(ctx context.Context, t time.Time) (path string, err error) {
	path, locked, err := take(ctx)
	if err != nil {
		return "", err
	}
	defer locked.Close()
	if last, err := locked.Stat(); err == nil && last.Size() > 0 && last.ModTime().After(t) {
		return path, nil
	}
	if err := compile(ctx, path); err != nil {
		return "", err
	}
	_, err = locked.WriteAt([]byte("built\n"), 0)
	return path, err
}

// take returns the path of the program and a file beside it, which is locked until it is closed: the processes of several
// packages may build at once.
func take(ctx context.Context) (path string, locked *os.File, err error) {
	file, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", nil, fmt.Errorf("find the module of %s: %w", Program, err)
	}
	path = filepath.Join(filepath.Dir(strings.TrimSpace(string(file))), ".build", "servers")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", nil, err
	}
	if locked, err = os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return "", nil, err
	}
	if err := lock(locked); err != nil {
		return "", nil, errors.Join(err, locked.Close())
	}
	return path, locked, nil
}

// compile builds the program at a path. A commit alone does not change it.
func compile(ctx context.Context, path string) error {
	before, old := digest(path)
	said, err := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", path, Program).CombinedOutput()
	if err != nil {
		return fmt.Errorf("build %s: %w: %s", Program, err, said)
	}
	if after, _ := digest(path); old != nil && after == before {
		return os.Chtimes(path, time.Time{}, old.ModTime()) // go build sets it anew
	}
	return nil
}

// digest returns a hash of a file and what the system knows of it, or nil if it cannot be read.
func digest(path string) (sum [sha256.Size]byte, info os.FileInfo) {
	f, err := os.Open(path)
	if err != nil {
		return sum, nil
	}
	defer f.Close()
	h := sha256.New()
	if _, err = io.Copy(h, f); err == nil {
		info, err = f.Stat()
	}
	if err != nil {
		return sum, nil
	}
	return [sha256.Size]byte(h.Sum(nil)), info
}
