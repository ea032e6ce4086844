package hosts

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stampede-bench/stampede/internal/testenv"
)

// A Host is a host of its own for processes.
type Host struct {
	pid int // of the process that keeps its namespaces
}

// Start makes a host whose monotonic clock is ahead of the machine's. It has a loopback interface and no
// other. The test is skipped in short, and where that is impossible; with REQUIRE_BACKENDS=all it fails if it is root on
// Linux.
func Start(t *testing.T, ahead time.Duration) *Host {
	t.Helper()
	testenv.SkipIfShort(t)
	if os.Geteuid() != 0 {
		t.Skip("hosts of a test need root")
	}
	h, err := start(t, ahead)
	if err != nil {
		if os.Getenv("REQUIRE_BACKENDS") == "all" {
			t.Fatalf("REQUIRE_BACKENDS=all, but %v", err)
		}
		t.Skip(err)
	}
	return h
}

func start(t *testing.T, ahead time.Duration) (*Host, error) {
	keeper := exec.Command("unshare", "--net", "--time", "--monotonic", strconv.Itoa(int(ahead.Seconds())),
		"--fork", "--kill-child=KILL", "sh", "-c", "ip link set lo up && echo $$ && exec sleep infinity")
	keeper.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var complaint strings.Builder
	keeper.Stderr = &complaint
	out, err := keeper.StdoutPipe()
	if err == nil {
		err = keeper.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("make a network and a time namespace: %w", err)
	}
	h := &Host{pid: keeper.Process.Pid}
	t.Cleanup(func() {
		_ = syscall.Kill(h.pid, syscall.SIGKILL)
		_ = keeper.Wait() // it ends after its child
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("make a network and a time namespace: %w", errors.Join(keeper.Wait(), errors.New(complaint.String())))
	}
	child, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		return nil, fmt.Errorf("make a network and a time namespace: %w", err)
	}
	h.pid = child
	return h, nil
}

// Command returns a command that will run on the host. It is killed when the context ends, and with the
// test's process.
func (h *Host) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, "nsenter", append([]string{"--target", strconv.Itoa(h.pid), "--net", "--time", name}, args...)...)
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return c
}

// inNamespace calls a function in the host's network namespace. Sockets that it opens stay there.
func (h *Host) inNamespace(f func() error) (err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	own, err := unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(own)
	there, err := unix.Open(fmt.Sprintf("/proc/%d/ns/net", h.pid), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(there)
	if err := unix.Setns(there, unix.CLONE_NEWNET); err != nil {
		return err
	}
	defer func() {
		if err := unix.Setns(own, unix.CLONE_NEWNET); err != nil {
			panic(err) // the thread runs other goroutines afterwards
		}
	}()
	return f()
}
