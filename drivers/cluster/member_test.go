package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/cluster"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// keeps reports, for each backend, whether a restarted server has its nodes after a kill.
var keeps = map[string]bool{
	"native:":                   false,
	"native:?durability=fsync":  true,
	"etcd:?durability=no-fsync": true,
	"zookeeper:":                true,
}

// A single server is stopped, resumed, killed and restarted.
func TestMember(t *testing.T) {
	testenv.SkipIfShort(t)
	for url, kept := range keeps {
		t.Run(url, func(t *testing.T) {
			s, tmp := openWith(t, url, backends.Options{Divisible: true})
			if n := len(s.Members()); n != 1 {
				t.Fatalf("%d members, want 1", n)
			}
			create(t, s, "/kept")
			m := s.Members()[0]
			if p := cluster.Proxy(m); p != "" || s.Divisible() || s.Info().Started != "own process" {
				t.Errorf("its proxy is %q, divisible %t, started %q: want no other member to be isolated from", p, s.Divisible(), s.Info().Started)
			}
			leads(t, m)
			stopAndContinue(t, m)
			killAndRestart(t, m)
			if found := exists(t, s, "/kept"); found != kept {
				t.Errorf("after the restart its node is there: %t, want %t", found, kept)
			}
			if err := errors.Join(m.Stop(), s.Close()); err != nil {
				t.Errorf("close with a stopped member: %v", err)
			}
			empty(t, tmp)
		})
	}
}

// TestMemberStoppedFromOutside stops a server behind the ensemble's back. Close lets it go on, so that it cleans
// up and ends, and need not be killed.
func TestMemberStoppedFromOutside(t *testing.T) {
	testenv.SkipIfShort(t)
	for url := range keeps {
		t.Run(url, func(t *testing.T) {
			s, tmp := openWith(t, url, backends.Options{})
			if err := syscall.Kill(cluster.PID(s.Members()[0]), syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Errorf("close: %v, want no server killed", err)
			}
			empty(t, tmp)
		})
	}
}

func stopAndContinue(t *testing.T, m drivers.Member) {
	t.Helper()
	refused(t, m.Continue(), "continue member 1: it is not stopped")
	if err := m.Stop(); err != nil {
		t.Fatal(err)
	}
	if s := states(t, cluster.PID(m)); strings.Trim(s, "T") != "" {
		t.Errorf("its threads are %s, want each to be T, stopped", s)
	}
	refused(t, m.Stop(), "stop member 1: it is stopped already")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := m.Leads(ctx); err == nil || ctx.Err() == nil {
		t.Errorf("asked a stopped server: %v, want no answer", err)
	}
	if err := m.Continue(); err != nil {
		t.Fatal(err)
	}
	if s := states(t, cluster.PID(m)); strings.Contains(s, "T") {
		t.Errorf("its threads are %s, want none to be stopped", s)
	}
	leads(t, m)
}

func killAndRestart(t *testing.T, m drivers.Member) {
	t.Helper()
	refused(t, m.Restart(t.Context()), "restart member 1: it has not been killed")
	pid := cluster.PID(m)
	if err := errors.Join(m.Stop(), m.Kill()); err != nil { // a stopped member can also be killed
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("signal to the killed process: %v, want no such process", err)
	}
	if _, err := m.Leads(t.Context()); !errors.Is(err, syscall.ECONNREFUSED) && !strings.Contains(fmt.Sprint(err), "connection refused") {
		t.Errorf("asked a killed server: %v, want to be refused", err)
	}
	refused(t, m.Kill(), "kill member 1: it has been killed")
	refused(t, m.Stop(), "stop member 1: it has been killed")
	refused(t, m.Continue(), "continue member 1: it has been killed")
	if err := m.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if cluster.PID(m) == pid {
		t.Errorf("its process is %d again", pid)
	}
	leads(t, m)
}

func refused(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// states returns the states of a process's threads, one letter each.
func states(t *testing.T, pid int) (all string) {
	t.Helper()
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, thread := range threads {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/stat", pid, thread.Name()))
		if err == nil { // the thread may have ended
			_, state, _ := strings.Cut(string(text), ") ")
			all += state[:1]
		}
	}
	return all
}

// leads waits until the member reports that it leads.
func leads(t *testing.T, m drivers.Member) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		asking, giveUp := context.WithTimeout(ctx, askTime)
		leads, err := m.Leads(asking)
		giveUp()
		switch {
		case leads:
			return
		case ctx.Err() != nil:
			t.Fatalf("it does not lead: %v", err)
		}
	}
}

// dial opens a session as soon as a server accepts one.
func dial(t *testing.T, s drivers.Service) drivers.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		c, err := s.Dial(ctx, drivers.Options{})
		if err == nil {
			return c
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
	}
}

// create creates a node, though a busy machine may cost the ensemble its leader meanwhile: the call is then repeated.
func create(t *testing.T, s drivers.Service, path string) {
	t.Helper()
	c := dial(t, s)
	defer c.Close()
	err := drivers.Repeat(t.Context(), func() error {
		_, err := c.Create(t.Context(), path, nil, 0)
		return err
	})
	if err != nil && !errors.Is(err, drivers.ErrNodeExists) { // it exists if only the first answer was lost
		t.Fatal(err)
	}
}

func exists(t *testing.T, s drivers.Service, path string) bool {
	t.Helper()
	c := dial(t, s)
	defer c.Close()
	_, found, err := drivers.Steady(c).Exists(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return found
}
