package drivertest

import (
	"context"

	"github.com/stampede-bench/stampede/drivers"
)

// A client is a session of a case. Every watch armed through it is audited at the end of
// the case. The methods with lower-case names make the Conn's calls in steps that must
// succeed: they fail the case otherwise, so only the case's own goroutine may use them.
type client struct {
	drivers.Conn
	x *trial
}

func (c *client) Exists(ctx context.Context, path string, w drivers.Watch) (drivers.Stat, bool, error) {
	w, returned := c.x.audited("exists "+path, w)
	stat, found, err := c.Conn.Exists(ctx, path, w)
	returned(err)
	return stat, found, err
}

func (c *client) Get(ctx context.Context, path string, w drivers.Watch) ([]byte, drivers.Stat, error) {
	w, returned := c.x.audited("get "+path, w)
	data, stat, err := c.Conn.Get(ctx, path, w)
	returned(err)
	return data, stat, err
}

func (c *client) Children(ctx context.Context, path string, w drivers.Watch) ([]drivers.Child, error) {
	w, returned := c.x.audited("children of "+path, w)
	children, err := c.Conn.Children(ctx, path, w)
	returned(err)
	return children, err
}

func (c *client) create(ctx context.Context, path, data string, mode drivers.Mode) drivers.Child {
	c.x.Helper()
	child, err := c.Create(ctx, path, []byte(data), mode)
	if err != nil {
		c.x.Fatalf("create %s: %v", path, err)
	}
	return child
}

func (c *client) remove(ctx context.Context, path string) {
	c.x.Helper()
	if err := c.Delete(ctx, path, drivers.AnyVersion); err != nil {
		c.x.Fatalf("delete %s: %v", path, err)
	}
}

func (c *client) exists(ctx context.Context, path string, w drivers.Watch) (drivers.Stat, bool) {
	c.x.Helper()
	stat, found, err := c.Exists(ctx, path, w)
	if err != nil {
		c.x.Fatalf("exists %s: %v", path, err)
	}
	return stat, found
}

func (c *client) get(ctx context.Context, path string, w drivers.Watch) (string, drivers.Stat) {
	c.x.Helper()
	data, stat, err := c.Get(ctx, path, w)
	if err != nil {
		c.x.Fatalf("get %s: %v", path, err)
	}
	return string(data), stat
}

func (c *client) set(ctx context.Context, path, data string) drivers.Stat {
	c.x.Helper()
	stat, err := c.Set(ctx, path, []byte(data), drivers.AnyVersion)
	if err != nil {
		c.x.Fatalf("set %s: %v", path, err)
	}
	return stat
}

func (c *client) children(ctx context.Context, path string, w drivers.Watch) []drivers.Child {
	c.x.Helper()
	children, err := c.Children(ctx, path, w)
	if err != nil {
		c.x.Fatalf("children of %s: %v", path, err)
	}
	return children
}

// sync makes the writes of other sessions visible to this session's reads.
func (c *client) sync(ctx context.Context) {
	c.x.Helper()
	if err := c.Sync(ctx, c.x.base); err != nil {
		c.x.Fatalf("sync: %v", err)
	}
}

// flush returns when every notification for earlier writes has reached its watch.
func (c *client) flush(ctx context.Context) {
	c.x.Helper()
	f, ok := c.Conn.(drivers.Flusher)
	if !ok {
		c.x.Fatalf("%T is no drivers.Flusher: it cannot be shown that a watch did not fire", c.Conn)
	}
	if err := f.Flush(ctx); err != nil {
		c.x.Fatalf("flush: %v", err)
	}
}

// close ends the session.
func (c *client) close() {
	c.x.Helper()
	if err := c.Close(); err != nil {
		c.x.Fatalf("close: %v", err)
	}
}
