package namespace_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/namespace"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

func dial(t *testing.T, s drivers.Service) drivers.Conn {
	t.Helper()
	c, err := s.Dial(t.Context(), drivers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// put creates nodes, given as "path" or "path=data".
func put(t *testing.T, c drivers.Conn, mode drivers.Mode, nodes ...string) {
	t.Helper()
	for _, n := range nodes {
		path, data, _ := strings.Cut(n, "=")
		if _, err := c.Create(t.Context(), path, []byte(data), mode); err != nil {
			t.Fatal(err)
		}
	}
}

func names(t *testing.T, c drivers.Conn, path string) (names []string) {
	t.Helper()
	children, err := c.Children(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, child := range children {
		names = append(names, child.Name)
	}
	slices.Sort(names)
	return names
}

func TestCleanTakesWhatKilledRunsLeftAndNothingElse(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		c := dial(t, s)
		put(t, c, 0, "/stampede=stampede",
			"/stampede/deaddeaddead=stampede", "/stampede/deaddeaddead/lock", "/stampede/deaddeaddead/lock/a",
			"/stampede/livelivelive=stampede", "/stampede/livelivelive/lock",
			"/stampede/somebodyelse", "/stampede/note=stampede", "/elsewhere=stampede")
		put(t, c, drivers.Ephemeral, "/stampede/livelivelive.alive")
		live := namespace.Leftover{Path: "/stampede/livelivelive", Alive: true}
		want := []namespace.Leftover{{Path: "/stampede/deaddeaddead", Nodes: 3}, live}
		for _, dry := range []bool{true, false} {
			before := names(t, c, "/stampede")
			found, err := namespace.Clean(t.Context(), c, "/stampede", dry)
			slices.SortFunc(found, func(a, b namespace.Leftover) int { return strings.Compare(a.Path, b.Path) })
			if diff := cmp.Diff(want, found); err != nil || diff != "" {
				t.Errorf("dry %v: %v (-want +got):\n%s", dry, err, diff)
			}
			if after := names(t, c, "/stampede"); dry != slices.Equal(before, after) {
				t.Errorf("dry %v: %v, and then %v", dry, before, after)
			}
		}
		left := []string{"livelivelive", "livelivelive.alive", "note", "somebodyelse"}
		if diff := cmp.Diff(left, names(t, c, "/stampede")); diff != "" {
			t.Errorf("left below the namespace (-want +got):\n%s", diff)
		}
		for _, path := range []string{"/stampede/note", "/stampede/somebodyelse", "/stampede/livelivelive.alive"} {
			if err := c.Delete(t.Context(), path, drivers.AnyVersion); err != nil {
				t.Fatal(err)
			}
		}
		// The run's marker is gone, so it is no longer alive. A run created the namespace, so Clean
		// removes it.
		if _, err := namespace.Clean(t.Context(), c, "/stampede", false); err != nil {
			t.Error(err)
		}
	})
}

func TestCleanLeavesARunAlone(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		ran := make(chan error, 1)
		go func() {
			_, err := workloads.Run(t.Context(), runtest.LockPlan(s, runtest.Predecessor))
			ran <- err
		}()
		time.Sleep(100 * time.Millisecond)
		found, err := namespace.Clean(t.Context(), dial(t, s), namespace.Default, false)
		if err != nil || len(found) != 1 || !found[0].Alive {
			t.Errorf("found %+v, %v; want one run that is alive", found, err)
		}
		if err := <-ran; err != nil {
			t.Errorf("the run: %v", err)
		}
	})
}

// TestNamespace checks that a namespace that existed before is not removed, and that none is
// created below a node that does not exist.
func TestNamespace(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		c := dial(t, s)
		put(t, c, 0, "/team", "/team/bench")
		p := runtest.LockPlan(s, runtest.Predecessor)
		p.Settings.Namespace = "/team/bench"
		if _, err := workloads.Run(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if left := names(t, c, "/team/bench"); len(left) > 0 {
			t.Errorf("left below the namespace: %v", left)
		}
		p.Settings.Namespace = "/nobody/bench"
		_, err := workloads.Run(t.Context(), p)
		if !errors.Is(err, drivers.ErrNoNode) || !strings.Contains(err.Error(), "/nobody/bench") {
			t.Errorf("got %v, want %v and the namespace", err, drivers.ErrNoNode)
		}
	})
}

// TestRunStaysInItsNamespace checks that all nodes of a run are below its namespace, also during
// the run.
func TestRunStaysInItsNamespace(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		c := dial(t, s)
		put(t, c, 0, "/here")
		defer c.Delete(context.Background(), "/here", drivers.AnyVersion)
		p := runtest.LockPlan(s, runtest.Predecessor)
		p.Settings.Namespace = "/here/mine"
		ran := make(chan error, 1)
		go func() {
			_, err := workloads.Run(t.Context(), p)
			ran <- err
		}()
		time.Sleep(100 * time.Millisecond)
		if diff := cmp.Diff([]string{"here", "zookeeper"}, names(t, c, "/")); diff != "" {
			t.Errorf("at the root (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"mine"}, names(t, c, "/here")); diff != "" {
			t.Errorf("beside the namespace (-want +got):\n%s", diff)
		}
		if err := <-ran; err != nil {
			t.Error(err)
		}
	})
}

func TestCheckNamespace(t *testing.T) {
	for path, ok := range map[string]bool{
		"/stampede": true, "/team/bench": true,
		"": false, "/": false, "stampede": false, "/a/": false, "/a//b": false, "/a/../b": false,
	} {
		if err := namespace.Check(path); (err == nil) != ok {
			t.Errorf("%q: %v", path, err)
		}
	}
}

// TestRemoveEnded has a process that was about to make a base, and ended at each point of that.
func TestRemoveEnded(t *testing.T) {
	const base, alive = "/stampede/deaddeaddead", "/stampede/deaddeaddead.alive"
	for name, made := range map[string][]string{
		"nothing":           {},
		"the namespace":     {"/stampede=stampede"},
		"the base":          {"/stampede=stampede", base + "=stampede"},
		"nodes in the base": {"/stampede=stampede", base + "=stampede", base + "/lock", base + "/lock/a"},
	} {
		t.Run(name, func(t *testing.T) {
			runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
				c := dial(t, s)
				put(t, c, 0, made...)
				if err := namespace.Path("/stampede").RemoveEnded(t.Context(), c, base); err != nil {
					t.Error(err)
				}
				if diff := cmp.Diff([]string{"zookeeper"}, names(t, c, "/")); diff != "" {
					t.Errorf("at the root (-want +got):\n%s", diff)
				}
			})
		})
	}
	t.Run("an active process", func(t *testing.T) {
		runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
			c, other := dial(t, s), dial(t, s)
			put(t, c, 0, "/stampede=stampede")
			put(t, other, drivers.Ephemeral, alive)
			put(t, c, 0, base+"=stampede", base+"/lock")
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := namespace.Path("/stampede").RemoveEnded(ctx, c, base); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v, want that it waits", err)
			}
			if diff := cmp.Diff([]string{"lock"}, names(t, c, base)); diff != "" {
				t.Errorf("in the base (-want +got):\n%s", diff)
			}
			other.Close()
			if err := namespace.Path("/stampede").RemoveEnded(t.Context(), c, base); err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff([]string{"zookeeper"}, names(t, c, "/")); diff != "" {
				t.Errorf("at the root (-want +got):\n%s", diff)
			}
		})
	})
}
