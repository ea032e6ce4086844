package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/workloads/namespace"
)

// TestClosedTerminal checks that a run whose terminal is closed, which is the end of all its output to
// people, removes its nodes, writes its result and exits with the code of SIGHUP.
func TestClosedTerminal(t *testing.T) {
	testenv.SkipIfShort(t)
	heedHangup(t)
	addr, watcher := given(t)
	file := filepath.Join(t.TempDir(), "run.json")
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer screen.Close()
	fd := int(screen.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err := errors.Join(err, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)); err != nil {
		t.Fatal(err)
	}
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), "stampede", "run", "--backend", "zookeeper://"+addr,
		"--clients", "4", "--warmup", "0", "--duration", "1h", "-o", "table", "-o", "json="+file)
	run.Stdin, run.Stdout, run.Stderr, run.Dir = terminal, terminal, terminal, filepath.Dir(file)
	run.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	terminal.Close()
	awaitHolder(t, watcher)
	screen.Close()
	var exit *exec.ExitError
	if err := run.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 129 {
		t.Errorf("%v, want exit code 129", err)
	}
	wantPartial(t, file)
	if _, there, err := watcher.Exists(t.Context(), namespace.Default, nil); err != nil || there {
		t.Errorf("%s is there: %v, %v", namespace.Default, there, err)
	}
}
