package balancer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stampede-bench/stampede/internal/bubble"
)

var servers = []string{"a", "b", "c"}

// A cluster knows its leader, which is "" during an election.
type cluster struct {
	mu     sync.Mutex
	leader string
	down   string
	asked  int
}

var errElection = errors.New("no leader just now")

// elect makes a server the leader.
func (c *cluster) elect(server string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leader = server
}

func (c *cluster) leads(_ context.Context, server string) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if server == "a" { // once for each time that all are asked
		c.asked++
	}
	switch {
	case server == c.down:
		return false, errors.New("connection refused")
	case c.leader == "":
		return false, errElection
	}
	return server == c.leader, nil
}

// next returns the servers of the next n sessions, sorted.
func next(t *testing.T, s *Balancer, n int) (names []string) {
	t.Helper()
	for range n {
		i, err := s.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, servers[i])
	}
	slices.Sort(names)
	return names
}

func TestNext(t *testing.T) {
	for over, want := range map[string]string{
		"":        "[a a b b c c]",
		All:       "[a a b b c c]",
		Leader:    "[b b b b b b]",
		Followers: "[a a a c c c]",
	} {
		c := &cluster{leader: "b"}
		if got := fmt.Sprint(next(t, New(over, servers, c.leads), 6)); got != want {
			t.Errorf("%q: %s, want %s", over, got, want)
		}
	}
}

// A follower that is down is not chosen.
func TestNextLeavesOutWhoeverDoesNotSay(t *testing.T) {
	c := &cluster{leader: "b", down: "c"}
	if got := fmt.Sprint(next(t, New(Followers, servers, c.leads), 4)); got != "[a a a a]" {
		t.Errorf("%s, want a alone", got)
	}
}

// Next asks all servers at most once a second. New sessions then follow the new roles.
func TestNextGoesByNewRoles(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c := &cluster{leader: "b"}
		s := New(Leader, servers, c.leads)
		next(t, s, 100)
		if c.asked != 1 {
			t.Errorf("asked %d times for 100 sessions at once, want once", c.asked)
		}
		c.leader = "c"
		time.Sleep(2 * lasting)
		if got := fmt.Sprint(next(t, s, 2)); got != "[c c]" || c.asked != 2 {
			t.Errorf("%s after asking %d times, want the new leader after 2", got, c.asked)
		}
	})
}

func TestNextWaitsForAnElection(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c := &cluster{}
		s := New(Leader, servers, c.leads)
		got := make(chan []string)
		go func() { got <- next(t, s, 1) }()
		synctest.Wait()
		c.elect("a")
		if names := <-got; names[0] != "a" {
			t.Errorf("%v, want the leader that was elected", names)
		}
	})
}

func TestNextEndsWithItsContext(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := New(Leader, servers, new(cluster).leads)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := s.Next(ctx)
		const want = "clients=leader: no server to open a session at: no leader just now (context deadline exceeded)"
		if err == nil || err.Error() != want || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	})
}
