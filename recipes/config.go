package recipes

import (
	"context"
	"fmt"

	"github.com/stampede-bench/stampede/drivers"
)

// A Config is a value that one client sets and all others follow. Each client
// that follows it keeps a watch on it, so a change wakes each of them once, and
// an unchanged value causes no requests.
// Cost: N clients, U changes: N·U notifications, N(1+U) reads, U writes; a
// change wakes N.
type Config struct {
	conn drivers.Conn
	node string
}

// NewConfig returns the config whose value is the data of node, an existing
// node.
func NewConfig(conn drivers.Conn, node string) *Config {
	return &Config{conn: drivers.Steady(conn), node: node}
}

// Follow calls see with the value, and again after each change, until ctx ends
// or, with ErrSessionLost, the session does. If the value changes several times
// in quick succession, see may get only the last value.
func (c *Config) Follow(ctx context.Context, see func(value []byte)) error {
	return fmt.Errorf("follow config %s: %w", c.node, c.follow(ctx, see))
}

func (c *Config) follow(ctx context.Context, see func(value []byte)) error {
	for seen := int64(0); ; {
		// 1. Get the node, with a watch.
		var changed drivers.Wait
		value, stat, err := c.conn.Get(ctx, c.node, changed.Fire)
		if err != nil {
			return err
		}
		// 2. Call see, if the value has changed since the last call.
		if stat.Modified != seen {
			seen = stat.Modified
			see(value)
		}
		// 3. Wait for the watch to fire, then go to step 1.
		if _, err := changed.Await(ctx); err != nil {
			return err
		}
	}
}

// Set changes the value. Only one client at a time may call it: if a reply is
// lost, Set writes again, over a change that another client has made in
// between.
func (c *Config) Set(ctx context.Context, value []byte) error {
	err := drivers.Repeat(ctx, func() error {
		_, err := c.conn.Set(ctx, c.node, value, drivers.AnyVersion)
		return err
	})
	if err != nil {
		return fmt.Errorf("set config %s: %w", c.node, err)
	}
	return nil
}
