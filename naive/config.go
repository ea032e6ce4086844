package naive

import (
	"context"
	"fmt"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// A Config is a value that one client sets and all others follow. Each client
// that follows it reads it at a fixed interval. No client is woken. A shorter
// interval sends more requests, a longer one delays the news of a change.
// Cost: N clients, U changes, q polls per change: no notifications, N(1+q·U)
// reads, U writes; a change wakes no client.
type Config struct {
	conn drivers.Conn
	node string
}

// configInterval is how long a client that follows a config sleeps between two
// reads.
const configInterval = 5 * time.Millisecond

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
		// 1. Get the node, without a watch.
		value, stat, err := c.conn.Get(ctx, c.node, nil)
		if err != nil {
			return err
		}
		// 2. Call see, if the value has changed since the last call.
		if stat.Modified != seen {
			seen = stat.Modified
			see(value)
		}
		// 3. Wait for one interval, then go to step 1.
		if err := drivers.Pause(ctx, configInterval); err != nil {
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
