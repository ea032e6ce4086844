package local_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/local"
	"github.com/stampede-bench/stampede/drivers/spread"
)

// The leader is isolated: another leads, and what is written there the first does
// not have, which leads no more, though it answers. When it rejoins it has all of it.
func TestIsolatedLeader(t *testing.T) {
	for _, url := range several {
		t.Run(url, func(t *testing.T) {
			s, tmp := openWith(t, url, backends.Options{Divisible: true})
			if got, want := s.Info().Started, "3 own processes behind proxies"; got != want || !s.Divisible() {
				t.Errorf("started: %q, divisible %t, want %q", got, s.Divisible(), want)
			}
			first := leader(t, s)
			refused(t, first.Rejoin(), "rejoin member "+first.Name()+": it is not isolated")
			if err := first.Isolate(); err != nil {
				t.Fatal(err)
			}
			refused(t, first.Isolate(), "isolate member "+first.Name()+": it is isolated already")
			most := without(s, first)
			second := leader(t, most)
			leadsNoMore(t, first)
			create(t, at(t, s, spread.All, newDialer(), most.Members()...), "/since")
			unserved(t, at(t, s, spread.All, newDialer(), first))
			if err := first.Rejoin(); err != nil {
				t.Fatal(err)
			}
			if third := leader(t, s, s.Members()...); third.Name() != second.Name() {
				t.Errorf("member %s leads when the first is back, want %s", third.Name(), second.Name())
			}
			if !exists(t, at(t, s, spread.All, newDialer(), first), "/since") {
				t.Error("the first does not have what was written meanwhile")
			}
			proxy := local.Proxy(first)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			empty(t, tmp)
			if c, err := net.Dial("tcp", proxy); err == nil {
				c.Close()
				t.Errorf("somebody listens at %s still", proxy)
			}
		})
	}
}

// A follower is isolated, and the others go on under the same leader; so they do when
// it is back, and after it was started again in isolation.
func TestIsolatedFollower(t *testing.T) {
	for _, url := range several {
		t.Run(url, func(t *testing.T) {
			s, _ := openWith(t, url, backends.Options{Divisible: true})
			first := leader(t, s)
			follower := without(s, first).Members()[0]
			if err := follower.Isolate(); err != nil {
				t.Fatal(err)
			}
			leadsNoMore(t, follower)
			unserved(t, at(t, s, spread.All, newDialer(), follower))
			if err := follower.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := follower.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			unserved(t, at(t, s, spread.All, newDialer(), follower))
			create(t, at(t, s, spread.All, newDialer(), first), "/since")
			if err := follower.Rejoin(); err != nil {
				t.Fatal(err)
			}
			if again := leader(t, s, s.Members()...); again.Name() != first.Name() {
				t.Errorf("member %s leads, want %s as before", again.Name(), first.Name())
			}
			if !exists(t, at(t, s, spread.All, newDialer(), follower), "/since") {
				t.Error("the follower does not have what was written meanwhile")
			}
		})
	}
}

// Members that were not started to be isolated are not, and call each other directly.
func TestIndivisible(t *testing.T) {
	s, _ := open(t, several[0])
	m := s.Members()[0]
	refused(t, m.Isolate(), "isolate member 1: the ensemble was not started to be divided")
	refused(t, m.Rejoin(), "rejoin member 1: it is not isolated")
	if p := local.Proxy(m); p != "" || s.Divisible() {
		t.Errorf("its proxy is %q, divisible %t, want none", p, s.Divisible())
	}
}

// A part is some members of an ensemble.
type part struct {
	drivers.Ensemble
	members []drivers.Member
}

func (p part) Members() []drivers.Member { return p.members }

// without is an ensemble but for one member.
func without(s drivers.Ensemble, but drivers.Member) drivers.Ensemble {
	p := part{Ensemble: s}
	for _, m := range s.Members() {
		if m.Name() != but.Name() {
			p.members = append(p.members, m)
		}
	}
	return p
}

// leadsNoMore waits until a member that is reached says that there is no leader.
func leadsNoMore(t *testing.T, m drivers.Member) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTime)
	defer cancel()
	again := time.NewTicker(10 * time.Millisecond) // each question is a connection to a busy server
	defer again.Stop()
	for ; ; <-again.C {
		asking, giveUp := context.WithTimeout(ctx, time.Second)
		leads, err := m.Leads(asking)
		giveUp()
		switch {
		case err != nil && (strings.Contains(err.Error(), "knows of no leader") || strings.Contains(err.Error(), "neither leader nor follower")):
			return
		case ctx.Err() != nil:
			t.Fatalf("member %s: leads %t, %v; want that there is no leader", m.Name(), leads, err)
		}
	}
}

// unserved checks that nothing can be written there.
func unserved(t *testing.T, s drivers.Service) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	c, err := s.Dial(ctx, drivers.Options{})
	if err != nil {
		return
	}
	defer c.Close()
	if _, err := c.Create(ctx, "/unserved", nil, 0); err == nil {
		t.Error("it was written")
	}
}

func newDialer() *dialer { return &dialer{open: map[string]int{}} }
