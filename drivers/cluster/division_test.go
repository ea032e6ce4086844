package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/balancer"
	"github.com/stampede-bench/stampede/drivers/cluster"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// Members are isolated, slowed down and restored, and no process or file is left at the end.
func TestDivision(t *testing.T) {
	testenv.SkipIfShort(t)
	for _, url := range several {
		t.Run(url, func(t *testing.T) {
			s, tmp := openWith(t, url, backends.Options{Divisible: true})
			if got, want := s.Info().Started, "3 own processes behind proxies"; got != want || !s.Divisible() {
				t.Errorf("started: %q, divisible %t, want %q", got, s.Divisible(), want)
			}
			for _, d := range []drivers.Direction{drivers.Both, drivers.Out, drivers.In} {
				isolateLeader(t, s, d)
			}
			isolateFollower(t, s)
			isolateAll(t, s)
			slowLeader(t, s)
			proxy := cluster.Proxy(s.Members()[0])
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			empty(t, tmp)
			if c, err := net.Dial("tcp", proxy); err == nil {
				c.Close()
				t.Errorf("a process still listens at %s", proxy)
			}
		})
	}
}

// isolateLeader isolates the leader in the directions. Another member becomes the leader. The old leader does not see
// new writes and no longer leads, though it still answers. After its restoration it has all writes.
func isolateLeader(t *testing.T, s drivers.Ensemble, d drivers.Direction) {
	t.Helper()
	first := leader(t, s, s.Members()...)
	if err := first.Isolate(d); err != nil {
		t.Fatal(err)
	}
	refused(t, first.Isolate(d), "isolate member "+first.Name()+": it is isolated already")
	most := without(s, first)
	second := leader(t, most)
	leadsNoMore(t, first, d != drivers.Both)
	since := fmt.Sprintf("/since-%d", d)
	create(t, at(t, s, balancer.All, newDialer(), most.Members()...), since)
	unserved(t, at(t, s, balancer.All, newDialer(), first))
	restore(t, s, second, first)
	if !exists(t, at(t, s, balancer.All, newDialer(), first), since) {
		t.Error("the first does not have what was written meanwhile")
	}
}

// isolateFollower isolates a follower. The others continue under the same leader, and keep it when
// the follower returns after a restart in isolation.
func isolateFollower(t *testing.T, s drivers.Ensemble) {
	t.Helper()
	first := leader(t, s, s.Members()...)
	follower := without(s, first).Members()[0]
	if err := follower.Isolate(drivers.Both); err != nil {
		t.Fatal(err)
	}
	leadsNoMore(t, follower, false)
	unserved(t, at(t, s, balancer.All, newDialer(), follower))
	if err := errors.Join(follower.Kill(), follower.Restart(t.Context())); err != nil {
		t.Fatal(err)
	}
	listens(t, follower)
	unserved(t, at(t, s, balancer.All, newDialer(), follower))
	create(t, at(t, s, balancer.All, newDialer(), first), "/later")
	restore(t, s, first, follower)
	if !exists(t, at(t, s, balancer.All, newDialer(), follower), "/later") {
		t.Error("the follower does not have what was written meanwhile")
	}
}

// isolateAll isolates all members. No two can connect to each other, and all can after their
// restoration.
func isolateAll(t *testing.T, s drivers.Ensemble) {
	t.Helper()
	for _, m := range s.Members() {
		if err := m.Isolate(drivers.Both); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range s.Members() {
		leadsNoMore(t, m, false)
	}
	unserved(t, s)
	for _, m := range s.Members() {
		if err := m.Restore(); err != nil {
			t.Fatal(err)
		}
	}
	leader(t, s, s.Members()...)
}

// slowLeader slows the leader down, until it is restored. On a busy machine the slow leader may lose its lead, which
// says nothing about the delay: then the next leader is slowed down.
func slowLeader(t *testing.T, s drivers.Ensemble) {
	t.Helper()
	create(t, s, "/slow")
	for range 10 {
		err := writeThroughSlow(t, s, leader(t, s, s.Members()...))
		leader(t, s, s.Members()...)
		if err == nil {
			return
		}
		if !errors.Is(err, drivers.ErrConnectionLoss) {
			t.Fatal(err)
		}
	}
	t.Error("ten slow leaders lost their lead during a write")
}

// writeThroughSlow writes through a leader whose messages to the others take a delay both ways, or as long as the
// line's rate requires. It returns the error of the write that had no answer.
func writeThroughSlow(t *testing.T, s drivers.Ensemble, first drivers.Member) error {
	t.Helper()
	c := dial(t, at(t, s, balancer.All, newDialer(), first))
	defer c.Close()
	takes := func(bytes int, least time.Duration, why string) error {
		began := time.Now()
		_, err := c.Set(t.Context(), "/slow", make([]byte, bytes), drivers.AnyVersion)
		if took := time.Since(began); err == nil && took < least {
			t.Errorf("with a leader %s a write of %d bytes took %v, want %v at least", why, bytes, took, least)
		}
		return errors.Join(err, first.Restore())
	}
	if err := first.Delay(100 * time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if err := takes(1, 200*time.Millisecond, "that hears the others 100 ms late"); err != nil {
		return err
	}
	if err := first.Throttle(64 << 10); err != nil {
		t.Fatal(err)
	}
	return takes(32<<10, 500*time.Millisecond, "from which 64 KiB a second pass")
}

// restore restores a member, and checks that the others' leader then leads all.
func restore(t *testing.T, s drivers.Ensemble, leads, m drivers.Member) {
	t.Helper()
	if err := m.Restore(); err != nil {
		t.Fatal(err)
	}
	if got := leader(t, s, s.Members()...); got.Name() != leads.Name() {
		t.Errorf("member %s leads when member %s is back, want %s", got.Name(), m.Name(), leads.Name())
	}
}

// A part is a subset of an ensemble's members.
type part struct {
	drivers.Ensemble
	members []drivers.Member
}

func (p part) Members() []drivers.Member { return p.members }

// without returns the ensemble without one member.
func without(s drivers.Ensemble, but drivers.Member) drivers.Ensemble {
	p := part{Ensemble: s}
	for _, m := range s.Members() {
		if m.Name() != but.Name() {
			p.members = append(p.members, m)
		}
	}
	return p
}

// leadsNoMore waits until a reachable member reports that there is no leader or, if it may hear of one, that it does
// not lead itself.
func leadsNoMore(t *testing.T, m drivers.Member, hears bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	again := time.NewTicker(10 * time.Millisecond) // each query opens a connection to a busy server
	defer again.Stop()
	for ; ; <-again.C {
		asking, giveUp := context.WithTimeout(ctx, askTime)
		leads, err := m.Leads(asking)
		giveUp()
		switch {
		case err != nil && (strings.Contains(err.Error(), "knows no leader") || strings.Contains(err.Error(), "neither leader nor follower")):
			return
		case hears && err == nil && !leads:
			return
		case ctx.Err() != nil:
			t.Fatalf("member %s: leads %t, %v; want that there is no leader", m.Name(), leads, err)
		}
	}
}

// listens waits until a process listens at the member's address.
func listens(t *testing.T, m drivers.Member) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		c, err := net.Dial("tcp", m.Address())
		if err == nil {
			c.Close()
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// unserved checks that the member accepts no writes.
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
