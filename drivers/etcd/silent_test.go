package etcd

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// A session leaves a member that accepts messages and does not answer, before the lease ends:
// its ephemeral node stays, and its watches fire.
func TestSilentMemberIsLeft(t *testing.T) {
	testenv.SkipIfShort(t)
	s := quick(t)
	member := s.config.Endpoints[0]
	ice := make(chan struct{})
	relayed := service(t, Config{
		Endpoints: []string{"answers:1", "silent:1"}, Prefix: s.config.Prefix, // the first session takes the second endpoint
		Dial: func(ctx context.Context, address string) (net.Conn, error) {
			c, err := new(net.Dialer).DialContext(ctx, "tcp", member)
			if address == "silent:1" && err == nil {
				return frozen{c, ice}, nil
			}
			return c, err
		},
	})
	states := make(chan drivers.State, 10)
	c := dial(t, relayed, drivers.Options{SessionTimeout: 9 * time.Second, OnState: func(s drivers.State) { states <- s }})
	create(t, c, "/held", drivers.Ephemeral)
	fired := make(chan drivers.Event, 1)
	if _, _, err := c.Exists(t.Context(), "/made", func(e drivers.Event) { fired <- e }); err != nil {
		t.Fatal(err)
	}
	close(ice)
	for _, want := range []drivers.State{drivers.Disconnected, drivers.Connected} {
		if got := <-states; got != want {
			t.Fatalf("the session is %v, want %v", got, want)
		}
	}
	other := dial(t, s, drivers.Options{})
	create(t, other, "/made", 0)
	if e := <-fired; e.Type != drivers.Created {
		t.Errorf("the watch was called with %v, want created", e)
	}
	if _, found, err := other.Exists(t.Context(), "/held", nil); !found || err != nil {
		t.Errorf("the ephemeral node: found %v, %v; want it", found, err)
	}
}

func stopFollower(t *testing.T, members []drivers.Member) {
	t.Helper()
	for _, m := range members {
		leads, err := m.Leads(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !leads {
			if err := m.Stop(); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatal("no member follows")
}

// When a follower of three members is stopped, none of 12 sessions is lost.
func TestStoppedFollowerLosesNoSession(t *testing.T) {
	testenv.SkipIfShort(t)
	e, err := started(t.Context(), 3, NoFsync)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	s := service(t, Config{Endpoints: e.Addresses()})
	var all []*Conn
	for range 12 {
		all = append(all, dial(t, s, drivers.Options{SessionTimeout: 10 * time.Second}))
	}
	stopFollower(t, e.Members())
	for i, c := range all {
		err := drivers.Repeat(t.Context(), func() error {
			_, err := c.Create(t.Context(), fmt.Sprintf("/n%d", i), nil, drivers.Sequential)
			return err
		})
		if err != nil {
			t.Errorf("session %d: %v", i, err)
		}
	}
}

// TestAllMembersAreSilent has members that accept connections and answer nothing. The error says so in plain words.
func TestAllMembersAreSilent(t *testing.T) {
	testenv.SkipIfShort(t)
	for _, members := range [][]string{{"a:1"}, {"a:1", "b:1"}, {"a:1", "b:1", "c:1"}} {
		s, err := New(Config{Endpoints: members, Prefix: "/silent", Dial: func(context.Context, string) (net.Conn, error) {
			near, far := net.Pipe()
			go io.Copy(io.Discard, far)
			return near, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		_, err = s.Dial(ctx, drivers.Options{})
		cancel()
		want := fmt.Sprintf("etcd %s: no session: the server does not answer (context deadline exceeded)", strings.Join(members, ","))
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		s.Close()
	}
}
