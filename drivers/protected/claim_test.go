package protected_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/protected"
	"github.com/stampede-bench/stampede/internal/bubble"
)

// A wire is a Conn whose requests and replies can get lost when it writes. It records the
// requests to the service, except for syncs.
type wire struct {
	drivers.Conn
	asked []string
	// astray, if set, decides the fate of a write. lost means that the service executed
	// it.
	astray func(op string) fate
}

type fate uint8

const (
	delivered fate = iota
	lost           // executed, but the reply does not arrive
	dropped        // never executed
	hung           // no answer until the context ends, and never executed
)

func (w *wire) write(ctx context.Context, op string, do func() error) error {
	w.asked = append(w.asked, op)
	var f fate
	if w.astray != nil {
		f = w.astray(op)
	}
	switch f {
	case dropped:
		return drivers.ErrConnectionLoss
	case hung:
		<-ctx.Done()
		return context.Cause(ctx)
	}
	err := do()
	if f == lost {
		return drivers.ErrConnectionLoss
	}
	return err
}

func (w *wire) Create(ctx context.Context, path string, data []byte, mode drivers.Mode) (child drivers.Child, err error) {
	err = w.write(ctx, "create", func() (err error) {
		child, err = w.Conn.Create(ctx, path, data, mode)
		return err
	})
	return child, err
}

func (w *wire) Delete(ctx context.Context, path string, version int32) error {
	return w.write(ctx, "delete", func() error { return w.Conn.Delete(ctx, path, version) })
}

func (w *wire) Get(ctx context.Context, path string, watch drivers.Watch) ([]byte, drivers.Stat, error) {
	w.asked = append(w.asked, "get")
	return w.Conn.Get(ctx, path, watch)
}

func (w *wire) Children(ctx context.Context, path string, watch drivers.Watch) ([]drivers.Child, error) {
	w.asked = append(w.asked, "list")
	return w.Conn.Children(ctx, path, watch)
}

// first makes the first write of a kind go astray.
func first(kind string, f fate) func(string) fate {
	done := false
	return func(op string) fate {
		if op != kind || done {
			return delivered
		}
		done = true
		return f
	}
}

// kinds are both kinds of claims, with the read that each uses to look for its node.
var kinds = map[string]struct {
	open func(drivers.Conn) *protected.Claim
	look string
}{
	"in line": {func(c drivers.Conn) *protected.Claim { return protected.NewPlace(c, "/line", "lock-") }, "list"},
	"sole":    {func(c drivers.Conn) *protected.Claim { return protected.NewSingleNode(c, "/line/lock") }, "get"},
}

// each runs a test for both kinds, with a service and a session of its own.
func each(t *testing.T, test func(t *testing.T, w *wire, c *protected.Claim, look string)) {
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				w := session(t)
				test(t, w, kind.open(w), kind.look)
			})
		})
	}
}

// session opens a session with a service of its own, on which /line exists.
func session(t *testing.T) *wire {
	service, err := backends.InProcess()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := service.Dial(t.Context(), drivers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(conn.Close(), service.Close()); err != nil {
			t.Error(err)
		}
	})
	if _, err := conn.Create(t.Context(), "/line", nil, 0); err != nil {
		t.Fatal(err)
	}
	return &wire{Conn: conn}
}

// expect fails the test unless the service got these requests, and has this number of
// nodes now.
func (w *wire) expect(t *testing.T, nodes int, asked ...string) {
	t.Helper()
	if !slices.Equal(w.asked, asked) {
		t.Errorf("the service was asked %v, want %v", w.asked, asked)
	}
	children, err := w.Conn.Children(t.Context(), "/line", nil)
	if err != nil || len(children) != nodes {
		t.Errorf("there are nodes %v (%v), want %d", children, err, nodes)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestCreateAndRemove(t *testing.T) {
	each(t, func(t *testing.T, w *wire, c *protected.Claim, _ string) {
		must(t, c.Create(t.Context()))
		w.expect(t, 1, "create")
		must(t, c.Create(t.Context()))
		w.expect(t, 1, "create") // it exists already
		must(t, c.Remove(t.Context()))
		w.expect(t, 0, "create", "delete")
		must(t, c.Remove(t.Context()))
		must(t, c.Create(t.Context()))
		w.expect(t, 1, "create", "delete", "create")
	})
}

func TestWritesGoAstray(t *testing.T) {
	for _, op := range []string{"create", "delete"} {
		for f, again := range map[fate]bool{lost: false, dropped: true} {
			t.Run(fmt.Sprintf("%s done %v", op, !again), func(t *testing.T) {
				each(t, func(t *testing.T, w *wire, c *protected.Claim, look string) {
					w.astray = first(op, f)
					must(t, c.Create(t.Context()))
					must(t, c.Remove(t.Context()))
					cost := []string{op, look}
					if again {
						cost = append(cost, op)
					}
					want := append(cost, "delete")
					if op == "delete" {
						want = append([]string{"create"}, cost...)
					}
					w.expect(t, 0, want...)
				})
			})
		}
	}
}

// The caller gives up while the create is on its way, and the node is made.
func TestAbandonWhatMayBeThere(t *testing.T) {
	each(t, func(t *testing.T, w *wire, c *protected.Claim, look string) {
		ctx, cancel := context.WithCancel(t.Context())
		w.astray = func(op string) fate {
			if op == "create" {
				cancel()
			}
			return delivered
		}
		w.Conn = late{w.Conn}
		if err := c.Create(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("create: %v, want %v", err, context.Canceled)
		}
		w.expect(t, 1, "create")
		must(t, c.Abandon(ctx))
		w.expect(t, 0, "create", look, "delete")
	})
}

// A late Conn creates a node even if its caller no longer waits for it.
type late struct{ drivers.Conn }

func (l late) Create(ctx context.Context, path string, data []byte, mode drivers.Mode) (drivers.Child, error) {
	child, err := l.Conn.Create(context.WithoutCancel(ctx), path, data, mode)
	if err == nil && ctx.Err() != nil {
		return drivers.Child{}, ctx.Err()
	}
	return child, err
}

func TestAbandonHasPatienceForOneSession(t *testing.T) {
	each(t, func(t *testing.T, w *wire, c *protected.Claim, _ string) {
		must(t, c.Create(t.Context()))
		w.astray = func(string) fate { return hung }
		if err := c.Abandon(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("abandon: %v, want %v", err, context.DeadlineExceeded)
		}
		w.astray = nil
		must(t, c.Remove(t.Context()))
	})
}

func TestAbandonOfALostSession(t *testing.T) {
	each(t, func(t *testing.T, w *wire, c *protected.Claim, _ string) {
		must(t, c.Create(t.Context()))
		must(t, w.Close())
		must(t, c.Abandon(t.Context()))
		if err := c.Remove(t.Context()); !errors.Is(err, drivers.ErrSessionLost) {
			t.Errorf("remove: %v, want %v", err, drivers.ErrSessionLost)
		}
	})
}

func TestSomebodyElseRemovesIt(t *testing.T) {
	each(t, func(t *testing.T, w *wire, c *protected.Claim, _ string) {
		must(t, c.Create(t.Context()))
		children, err := w.Conn.Children(t.Context(), "/line", nil)
		must(t, err)
		must(t, w.Conn.Delete(t.Context(), "/line/"+children[0].Name, drivers.AnyVersion))
		if err := c.Remove(t.Context()); !errors.Is(err, drivers.ErrNoNode) {
			t.Errorf("remove: %v, want %v", err, drivers.ErrNoNode)
		}
		must(t, c.Remove(t.Context())) // the claim knows it now
	})
}

// A session that believes its own sole claim lost does not touch another session's.
func TestSomebodyElseHasTheSoleNode(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		mine, theirs := session(t), &wire{}
		theirs.Conn = mine.Conn
		a, b := protected.NewSingleNode(mine, "/line/lock"), protected.NewSingleNode(theirs, "/line/lock")
		must(t, b.Create(t.Context()))
		mine.astray = first("create", dropped)
		if err := a.Create(t.Context()); !errors.Is(err, drivers.ErrNodeExists) {
			t.Errorf("create: %v, want %v", err, drivers.ErrNodeExists)
		}
		mine.expect(t, 1, "create", "get", "create")
		must(t, b.Remove(t.Context()))

		mine.asked = nil
		must(t, a.Create(t.Context()))
		mine.astray = func(op string) fate {
			if op == "delete" {
				must(t, mine.Conn.Delete(t.Context(), "/line/lock", drivers.AnyVersion))
				must(t, b.Create(t.Context()))
				return dropped
			}
			return delivered
		}
		must(t, a.Remove(t.Context()))
		mine.expect(t, 1, "create", "delete", "get")
	})
}

func TestNoParent(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c := protected.NewPlace(session(t), "/nowhere", "lock-")
		if err := c.Create(t.Context()); !errors.Is(err, drivers.ErrNoNode) {
			t.Errorf("create: %v, want %v", err, drivers.ErrNoNode)
		}
		must(t, c.Abandon(t.Context()))
	})
}

func TestAheadAndFirst(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		w := session(t)
		var line []drivers.Child
		var claims []*protected.Claim
		for range 4 {
			c := protected.NewPlace(w, "/line", "lock-")
			must(t, c.Create(t.Context()))
			claims = append(claims, c)
		}
		line, err := w.Conn.Children(t.Context(), "/line", nil)
		must(t, err)
		slices.SortFunc(line, func(a, b drivers.Child) int { return int(a.Seq - b.Seq) })
		mine := claims[2]
		if mine.Seq() != line[2].Seq || !strings.Contains(line[2].Name, "-lock-") {
			t.Errorf("the third has place %d and is called %s, want place %d and a label", mine.Seq(), line[2].Name, line[2].Seq)
		}
		stranger := drivers.Child{Name: "stranger", Seq: drivers.NoSeq}
		for _, c := range []struct {
			what         string
			siblings     []drivers.Child
			ahead, first string
		}{
			{"all", []drivers.Child{line[3], line[1], line[2], line[0]}, line[1].Name, line[0].Name},
			{"a gap", []drivers.Child{line[2], line[0]}, line[0].Name, line[0].Name},
			{"the first, and one who came later", []drivers.Child{line[3], line[2]}, "", ""},
			{"a stranger only", []drivers.Child{stranger, line[2]}, "", ""},
			{"the line and a stranger", []drivers.Child{stranger, line[1], line[0], line[2]}, line[1].Name, line[0].Name},
		} {
			if ahead, err := mine.Ahead(c.siblings); err != nil || ahead != c.ahead {
				t.Errorf("%s: ahead is %q (%v), want %q", c.what, ahead, err, c.ahead)
			}
			if first, err := mine.First(c.siblings); err != nil || first != c.first {
				t.Errorf("%s: the first is %q (%v), want %q", c.what, first, err, c.first)
			}
		}
		if _, err := mine.Ahead(line[:2]); !errors.Is(err, drivers.ErrNoNode) {
			t.Errorf("ahead, and not among the siblings: %v, want %v", err, drivers.ErrNoNode)
		}
		if _, err := mine.First(line[:2]); !errors.Is(err, drivers.ErrNoNode) {
			t.Errorf("the first, and not among the siblings: %v, want %v", err, drivers.ErrNoNode)
		}
	})
}

// A lagging Conn reconnects, when a reply is lost, to a member that lacks the write until the session syncs.
type lagging struct {
	drivers.Conn
	behind bool
}

func (l *lagging) Create(ctx context.Context, path string, data []byte, mode drivers.Mode) (drivers.Child, error) {
	if l.behind {
		return l.Conn.Create(ctx, path, data, mode)
	}
	l.behind = true
	if _, err := l.Conn.Create(ctx, path, data, mode); err != nil {
		return drivers.Child{}, err
	}
	return drivers.Child{}, drivers.ErrConnectionLoss
}

func (l *lagging) Sync(ctx context.Context, path string) error {
	l.behind = false
	return l.Conn.Sync(ctx, path)
}

func (l *lagging) Get(ctx context.Context, path string, watch drivers.Watch) ([]byte, drivers.Stat, error) {
	if l.behind {
		return nil, drivers.Stat{}, drivers.ErrNoNode
	}
	return l.Conn.Get(ctx, path, watch)
}

func (l *lagging) Children(ctx context.Context, path string, watch drivers.Watch) ([]drivers.Child, error) {
	if l.behind {
		return nil, nil
	}
	return l.Conn.Children(ctx, path, watch)
}

// TestLooksOnlyAtWhatIsCurrent loses the reply of a create, and continues at a member that lags behind.
func TestLooksOnlyAtWhatIsCurrent(t *testing.T) {
	each(t, func(t *testing.T, w *wire, c *protected.Claim, look string) {
		w.Conn = &lagging{Conn: w.Conn}
		must(t, c.Create(t.Context()))
		w.Conn = w.Conn.(*lagging).Conn
		w.expect(t, 1, "create", look)
	})
}
