package duet

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// parted is the environment variable that makes this test binary a side: it starts a process of its
// own, waits at its gate, reports its window, and waits until its standard input ends.
const parted = "STAMPEDE_TEST_PARTED"

// alone is the exit code of a side whose gate failed.
const alone = 3

func TestMain(m *testing.M) {
	if os.Getenv(parted) == "" {
		os.Exit(m.Run())
	}
	gate := FromEnvironment()
	if _, still := os.LookupEnv(Variable); still || gate == nil {
		os.Exit(1)
	}
	server := exec.Command("cat")
	server.Stdin = os.Stdin
	if err := server.Start(); err != nil {
		os.Exit(1)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if os.Getenv(parted) == "cancelled" {
		cancel()
	}
	defer cancel()
	if gate.Await(ctx) != nil {
		server.Process.Kill()
		server.Wait()
		os.Exit(alone)
	}
	gate.Opened(time.Now())
	server.Wait()
}

// twoHalves returns the halves of this machine's processors.
func twoHalves(t *testing.T) Halves {
	t.Helper()
	h, err := OfThisMachine()
	if err != nil {
		t.Skip(err)
	}
	return h
}

// side starts this test binary as a side. Its standard input ends with the returned function.
func side(t *testing.T, on []int, mode string) (_ *Side, end func()) {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0])
	c.Env = append(os.Environ(), parted+"="+mode)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	s, err := Start(c, on)
	if err != nil {
		t.Fatal(err)
	}
	return s, func() { in.Close() }
}

// TestSideOpensWhenReleased checks that a side reports that it is ready, opens its window after its
// release and not before, and ends well.
func TestSideOpensWhenReleased(t *testing.T) {
	s, end := side(t, twoHalves(t)[0], "waits")
	if err := s.Ready(); err != nil {
		t.Fatal(err)
	}
	before := time.Now()
	if err := s.Release(); err != nil {
		t.Fatal(err)
	}
	at, err := s.Opened()
	if err != nil || at.Before(before.Round(0)) || at.After(time.Now().Round(0)) {
		t.Errorf("%v: opened at %v, released after %v", err, at, before)
	}
	end()
	if err := s.Wait(); err != nil {
		t.Error(err)
	}
}

// TestSideEndsAlone checks that a side that is not released ends when its context does, and when the
// process that could release it has ended.
func TestSideEndsAlone(t *testing.T) {
	for _, mode := range []string{"waits", "cancelled"} {
		s, end := side(t, twoHalves(t)[0], mode)
		defer end()
		if err := s.Ready(); err != nil {
			t.Fatal(err)
		}
		if mode == "waits" {
			s.closePipes() // as the end of this process would
		}
		if s.Wait(); s.ProcessState.ExitCode() != alone {
			t.Errorf("%s: %v, want exit code %d", mode, s.ProcessState, alone)
		}
	}
}

// TestSideThatIsNone checks that a process that does not report as a side does is an error.
func TestSideThatIsNone(t *testing.T) {
	for script, want := range map[string]string{
		"exit 0":                      "the side ended before it was ready: EOF",
		"echo hello >&3":              `the side reported "hello\n", want ready`,
		"echo opened 12 >&3; read -r": `the side reported "opened 12\n", want ready`,
	} {
		s, err := Start(exec.CommandContext(t.Context(), "sh", "-c", script), twoHalves(t)[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Ready(); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", script, err, want)
		}
		s.Wait()
	}
}

// TestSidesExchangeProcessors checks that every thread of a side and of the processes that it started
// has the side's half of the processors from the start, and the other half after Move; and that
// neither changes the processors of this process.
func TestSidesExchangeProcessors(t *testing.T) {
	h := twoHalves(t)
	before := allowed(t, os.Getpid())
	for i, half := range h {
		s, end := side(t, half, "waits")
		if err := s.Ready(); err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprint(set(half))
		if got := allowed(t, s.Process.Pid); len(got) != 1 || got[want] < 2 {
			t.Errorf("threads by their processors: %v, want at least 2 with %v", got, want)
		}
		if err := Move(s.Process.Pid, h[1-i]); err != nil {
			t.Fatal(err)
		}
		want = fmt.Sprint(set(h[1-i]))
		if got := allowed(t, s.Process.Pid); len(got) != 1 || got[want] < 2 {
			t.Errorf("threads by their processors after Move: %v, want at least 2 with %v", got, want)
		}
		if procs := environmentOf(t, s.Process.Pid, "GOMAXPROCS"); procs != strconv.Itoa(len(half)) {
			t.Errorf("GOMAXPROCS=%s, want %d", procs, len(half))
		}
		if err := s.Release(); err != nil {
			t.Error(err)
		}
		end()
		if err := s.Wait(); err != nil {
			t.Error(err)
		}
		if err := Move(s.Process.Pid, half); err != nil {
			t.Errorf("Move of a process that has ended: %v", err)
		}
	}
	if after := allowed(t, os.Getpid()); len(before) != 1 || len(after) != 1 {
		t.Errorf("threads of this process by their processors: %v, and then %v", before, after)
	}
}

// allowed returns the number of threads of a process and its descendants, by their processors.
func allowed(t *testing.T, pid int) map[string]int {
	t.Helper()
	family, err := familyOf(pid)
	if err != nil {
		t.Fatal(err)
	}
	threads := map[string]int{}
	for _, p := range family {
		ids, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", p))
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			n, err := strconv.Atoi(filepath.Base(id))
			if err != nil {
				t.Fatal(err)
			}
			var s unix.CPUSet
			if unix.SchedGetaffinity(n, &s) == nil {
				threads[fmt.Sprint(&s)]++
			}
		}
	}
	return threads
}

func environmentOf(t *testing.T, pid int, name string) string {
	t.Helper()
	f, err := os.Open(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := bufio.NewReader(f)
	for {
		entry, err := r.ReadString(0)
		if value, found := strings.CutPrefix(strings.TrimSuffix(entry, "\x00"), name+"="); found {
			return value
		}
		if err == io.EOF {
			return ""
		}
	}
}
