package reexec_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stampede-bench/stampede/drivers/cluster/reexec"
	"github.com/stampede-bench/stampede/internal/await"
)

func TestMain(m *testing.M) {
	reexec.Dispatch(map[string]reexec.Role{
		"echo":     echo,
		"refusing": refusing,
		"crashing": crashing,
		"chatty":   chatty,
		"keeper":   keeper,
		"names":    names,
		"parent":   parent,
	})
	os.Exit(m.Run())
}

// echo announces its arguments as its address.
func echo(ctx context.Context, args []string, ready func(string)) error {
	ready(strings.Join(args, "+"))
	<-ctx.Done()
	return nil
}

// names announces the names of its variables that begin with INHERIT_ as its address.
func names(ctx context.Context, _ []string, ready func(string)) error {
	var all []string
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(strings.ToUpper(name), "INHERIT_") {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	ready(strings.Join(all, "+"))
	<-ctx.Done()
	return nil
}

func refusing(context.Context, []string, func(string)) error {
	return errors.New("no java found:\n  install it")
}

func crashing(context.Context, []string, func(string)) error {
	os.Stderr.WriteString("a log line\n")
	panic("out of luck")
}

func chatty(_ context.Context, _ []string, _ func(string)) error {
	os.Stdout.WriteString("PASS\n")
	return nil
}

// keeper keeps a directory and a grandchild. Both processes hold the named pipe args[0] open as
// long as they live.
func keeper(ctx context.Context, args []string, ready func(string)) error {
	alive, err := os.OpenFile(args[0], os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(args[1], "kept-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	grandchild := exec.Command("sleep", "3600")
	grandchild.ExtraFiles = []*os.File{alive}
	if err := grandchild.Start(); err != nil {
		return err
	}
	defer grandchild.Wait()
	defer grandchild.Process.Kill()
	ready(dir)
	<-ctx.Done()
	// No process reads this after the parent has ended.
	os.Stderr.WriteString("cleaning up\n")
	return nil
}

// parent starts a keeper and is killed before it can stop it.
func parent(ctx context.Context, args []string, ready func(string)) error {
	p, err := reexec.Start(ctx, "keeper", args...)
	if err != nil {
		return err
	}
	ready(p.Addr())
	select {}
}

func start(t *testing.T, role string, args ...string) *reexec.Process {
	t.Helper()
	p, err := reexec.Start(t.Context(), role, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Stop() })
	return p
}

func TestStartTellsTheAddress(t *testing.T) {
	if got := start(t, "echo", "a", "b").Addr(); got != "a+b" {
		t.Errorf("address %q, want %q", got, "a+b")
	}
}

// A child has its parent's variables, except passwords and other secrets, which no child needs.
func TestChildInheritsNoSecrets(t *testing.T) {
	for _, name := range []string{
		"INHERIT_PASSWORD", "INHERIT_OTLP_HEADERS", "INHERIT_API_TOKEN", "inherit_secret", "INHERIT_SECRET_ACCESS_KEY", "INHERIT_CREDENTIALS", "INHERIT_HOME", "INHERIT_USER",
	} {
		t.Setenv(name, "hunter2")
	}
	if got, want := start(t, "names").Addr(), "INHERIT_HOME+INHERIT_USER"; got != want {
		t.Errorf("a child has %s, want %s", got, want)
	}
}

func TestChildHasAGroupOfItsOwn(t *testing.T) {
	p := start(t, "echo", "a")
	group, err := syscall.Getpgid(p.PID())
	if err != nil || group != p.PID() {
		t.Errorf("process group %d (%v), want the child's own, %d: Ctrl-C would reach it", group, err, p.PID())
	}
}

// endsOn sends a signal to a child that has told its address, and waits until the child has ended.
func endsOn(t *testing.T, p *reexec.Process, signal syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(p.PID(), signal); err != nil {
		t.Fatal(err)
	}
	await.Value(t, "the child ends", p.Done())
}

func TestStopTwice(t *testing.T) {
	p := start(t, "echo", "a")
	for i := range 2 {
		if err := p.Stop(); err != nil {
			t.Errorf("stop number %d: %v", i+1, err)
		}
	}
	if err := syscall.Kill(p.PID(), 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("signal to the stopped child: %v, want no such process", err)
	}
}

func TestStopTellsOfAChildThatDied(t *testing.T) {
	p := start(t, "echo", "a")
	endsOn(t, p, syscall.SIGKILL)
	for range 2 {
		if err := p.Stop(); err == nil || err.Error() != "echo: signal: killed" {
			t.Errorf("got %v, want to hear that it was killed", err)
		}
	}
}

func TestTerminatedChildEndsWell(t *testing.T) {
	p := start(t, "echo", "a")
	endsOn(t, p, syscall.SIGTERM)
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
}

func TestStartErrorIsOneLine(t *testing.T) {
	for _, c := range []struct{ role, want string }{
		{"refusing", "start refusing: no java found: install it"},
		{"crashing", "start crashing: exit status 2: panic: out of luck"},
		{"chatty", `start chatty: unexpected output "PASS": does main call reexec.Dispatch first?`},
		{"ecco", `start ecco: unknown role "ecco": did you mean "echo"?`},
	} {
		_, err := reexec.Start(t.Context(), c.role)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: got  %v\nwant %s", c.role, err, c.want)
		}
	}
}

func TestStartEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := reexec.Start(ctx, "echo"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context canceled", err)
	}
}

// The parent is killed; the child and the grandchild end, and the directory is removed.
func TestNothingOutlivesAKilledParent(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "alive")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	alive := make(chan error, 1)
	go func() { // reads up to the end of the pipe, when no process holds it open
		f, err := os.Open(fifo)
		if err == nil {
			_, err = io.Copy(io.Discard, f)
		}
		alive <- err
	}()

	p := start(t, "parent", fifo, t.TempDir())
	kept := p.Addr()
	if _, err := os.Stat(kept); err != nil {
		t.Fatalf("the keeper's directory before the end: %v", err)
	}
	select {
	case err := <-alive:
		t.Fatalf("child and grandchild are gone before the end: %v", err)
	default:
	}
	endsOn(t, p, syscall.SIGKILL)
	if err := await.Value(t, "child and grandchild end", alive); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(kept); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the keeper's directory afterwards: %v, want none", err)
	}
}
