package recipetest_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
)

// A lasting service adds persistent watches to a service that has none. It works only if all
// sessions are its own: it learns of every change from the replies to their writes, even if these
// replies are lost afterwards. If lasting itself has not seen a reply, it sends all watches the
// event Rearmed, which means that any change may have happened.
type lasting struct {
	drivers.Service

	mu    sync.Mutex
	armed []*armed
}

// lastingInProcess returns such a service in this process.
func lastingInProcess(t testing.TB) drivers.Service {
	return &lasting{Service: inProcess(t)}
}

// An armed watch is on one node, or on a node and everything below it.
type armed struct {
	conn *lastingConn
	path string
	tree bool
	fire drivers.Watch
}

func (a *armed) covers(path string) bool {
	return a.path == path || a.tree && strings.HasPrefix(path, a.path+"/")
}

// A lastingConn implements drivers.PersistentWatcher.
type lastingConn struct {
	drivers.Conn
	service   *lasting
	probe     drivers.Probe
	broken    bool     // guarded by service.mu: disconnected, so its watches get no events
	ephemeral []string // guarded by service.mu: the ephemeral nodes of the session
}

func (s *lasting) Dial(ctx context.Context, o drivers.Options) (drivers.Conn, error) {
	c := &lastingConn{service: s, probe: o.Probe}
	lose, notify := o.LoseReply, o.OnState
	o.LoseReply = func(m drivers.Message) bool {
		c.replied(m)
		return lose != nil && lose(m)
	}
	o.OnState = func(state drivers.State) {
		c.became(state)
		if notify != nil {
			notify(state)
		}
	}
	var err error
	c.Conn, err = s.Service.Dial(ctx, o)
	return c, err
}

// replied learns from a reply what has changed.
func (c *lastingConn) replied(m drivers.Message) {
	if m.Kind != drivers.Reply || m.Err != nil {
		return
	}
	c.service.mu.Lock()
	defer c.service.mu.Unlock()
	path := string(m.Path)
	switch m.Op {
	case drivers.OpCreate:
		if m.Mode&drivers.Ephemeral != 0 {
			c.ephemeral = append(c.ephemeral, path)
		}
		c.service.changed(drivers.Created, path)
	case drivers.OpSet:
		c.service.changed(drivers.DataChanged, path)
	case drivers.OpDelete:
		c.ephemeral = slices.DeleteFunc(c.ephemeral, func(e string) bool { return e == path })
		c.service.changed(drivers.Deleted, path)
	}
}

// changed notifies the watches that cover the path. The caller holds s.mu.
func (s *lasting) changed(e drivers.EventType, path string) {
	for _, a := range s.armed {
		if a.covers(path) && !a.conn.broken {
			if a.conn.probe != nil {
				a.conn.probe.Message(drivers.Message{Kind: drivers.Notification, Event: e, Path: []byte(path)})
			}
			a.fire(drivers.Event{Type: e, Path: path})
		}
	}
}

func (c *lastingConn) became(state drivers.State) {
	c.service.mu.Lock()
	defer c.service.mu.Unlock()
	rearmed := c.broken && state == drivers.Connected
	c.broken = state != drivers.Connected
	if rearmed {
		c.service.notify(drivers.Rearmed, func(a *armed) bool { return a.conn == c })
	}
}

func (s *lasting) notify(e drivers.EventType, which func(*armed) bool) {
	for _, a := range s.armed {
		if which(a) {
			a.fire(drivers.Event{Type: e})
		}
	}
}

func (c *lastingConn) Create(ctx context.Context, path string, data []byte, mode drivers.Mode) (drivers.Child, error) {
	child, err := c.Conn.Create(ctx, path, data, mode)
	return child, c.known(ctx, err)
}

func (c *lastingConn) Set(ctx context.Context, path string, data []byte, version int32) (drivers.Stat, error) {
	stat, err := c.Conn.Set(ctx, path, data, version)
	return stat, c.known(ctx, err)
}

func (c *lastingConn) Delete(ctx context.Context, path string, version int32) error {
	return c.known(ctx, c.Conn.Delete(ctx, path, version))
}

// known returns the error of a write. If the reply was lost, it first waits until the outcome is
// settled, and then sends all watches the event Rearmed.
func (c *lastingConn) known(ctx context.Context, err error) error {
	if !errors.Is(err, drivers.ErrConnectionLoss) {
		return err
	}
	if drivers.Steady(c.Conn).Sync(ctx, "/") == nil {
		c.service.mu.Lock()
		defer c.service.mu.Unlock()
		c.service.notify(drivers.Rearmed, func(*armed) bool { return true })
	}
	return err
}

func (c *lastingConn) Flush(ctx context.Context) error { return c.Conn.(drivers.Flusher).Flush(ctx) }

func (c *lastingConn) WatchNode(ctx context.Context, path string, w drivers.Watch) (func(), error) {
	return c.arm(ctx, &armed{conn: c, path: path, fire: w})
}

func (c *lastingConn) WatchTree(ctx context.Context, path string, w drivers.Watch) (func(), error) {
	return c.arm(ctx, &armed{conn: c, path: path, tree: true, fire: w})
}

func (c *lastingConn) arm(ctx context.Context, a *armed) (stop func(), err error) {
	if err := c.Sync(ctx, a.path); err != nil {
		return nil, err
	}
	c.service.mu.Lock()
	defer c.service.mu.Unlock()
	c.service.armed = append(c.service.armed, a)
	return func() {
		c.service.mu.Lock()
		defer c.service.mu.Unlock()
		c.service.disarm(func(other *armed) bool { return other == a })
	}, nil
}

func (s *lasting) disarm(which func(*armed) bool) { s.armed = slices.DeleteFunc(s.armed, which) }

// Close ends the session, and removes its watches and its ephemeral nodes.
func (c *lastingConn) Close() error {
	err := c.Conn.Close()
	c.service.mu.Lock()
	defer c.service.mu.Unlock()
	c.service.notify(drivers.Lost, func(a *armed) bool { return a.conn == c })
	c.service.disarm(func(a *armed) bool { return a.conn == c })
	for _, path := range c.ephemeral {
		c.service.changed(drivers.Deleted, path)
	}
	c.ephemeral = nil
	return err
}

// TestLastingWatches checks that lasting meets the contract of drivers.PersistentWatcher.
func TestLastingWatches(t *testing.T) {
	service := lastingInProcess(t)
	t.Cleanup(func() {
		if err := service.Close(); err != nil {
			t.Error(err)
		}
	})
	var conns [2]drivers.Conn
	for i := range conns {
		var err error
		if conns[i], err = service.Dial(t.Context(), drivers.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	var node, tree, stopped []string
	note := func(into *[]string) drivers.Watch {
		return func(e drivers.Event) { *into = append(*into, e.Path+" "+e.Type.String()) }
	}
	w := drivers.Persistent(conns[0].(drivers.PersistentWatcher))
	_, err := w.WatchNode(t.Context(), "/a", note(&node))
	_, err2 := w.WatchTree(t.Context(), "/a", note(&tree))
	stop, err3 := w.WatchNode(t.Context(), "/a", note(&stopped))
	if err := errors.Join(err, err2, err3); err != nil {
		t.Fatal(err)
	}
	stop()
	for _, c := range conns {
		_, err1 := c.Create(t.Context(), "/a", nil, 0)
		_, err2 := c.Create(t.Context(), "/a/b", nil, drivers.Ephemeral)
		_, err3 := c.Create(t.Context(), "/ab", nil, drivers.Ephemeral)
		_, err4 := c.Set(t.Context(), "/a", []byte("x"), drivers.AnyVersion)
		if err := errors.Join(err1, err2, err3, err4); err != nil && c == conns[0] {
			t.Fatal(err)
		}
	}
	if err := errors.Join(conns[0].Close(), conns[1].Close()); err != nil {
		t.Fatal(err)
	}
	if want := []string{"/a created", "/a data changed", "/a data changed", " lost"}; !slices.Equal(node, want) {
		t.Errorf("a node's watch was notified of %q, want %q", node, want)
	}
	if want := []string{"/a created", "/a/b created", "/a data changed", "/a data changed", " lost"}; !slices.Equal(tree, want) {
		t.Errorf("a tree's watch was notified of %q, want %q", tree, want)
	}
	if len(stopped) != 0 {
		t.Errorf("a stopped watch was notified of %q", stopped)
	}
}
