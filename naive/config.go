package naive

import (
	"context"
	"fmt"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// A Config is a value that one client sets and all others follow. Each reads it
// again and again, so nobody is woken and everybody keeps asking; a shorter
// interval asks more, a longer one learns of a change later.
// Cost: N clients, U changes, q polls per change: no notifications, N(1+q·U)
// reads, U writes; a change wakes nobody.
type Config struct {
	conn drivers.Conn
	node string
}

// configInterval is how long a client that follows a config rests between two
// reads.
const configInterval = 5 * time.Millisecond

// NewConfig returns the config whose value is that of node, which is there
// already.
func NewConfig(conn drivers.Conn, node string) *Config {
	return &Config{conn: drivers.Steady(conn), node: node}
}

// Follow calls see with the value, and again whenever it has changed, until ctx
// ends or, ErrSessionLost, the session does. Of changes in quick succession it
// may show only the last.
func (c *Config) Follow(ctx context.Context, see func(value []byte)) error {
	return fmt.Errorf("follow config %s: %w", c.node, c.follow(ctx, see))
}

func (c *Config) follow(ctx context.Context, see func(value []byte)) error {
	for seen := int64(0); ; {
		// 1. Read the value, without a watch.
		value, stat, err := c.conn.Get(ctx, c.node, nil)
		if err != nil {
			return err
		}
		// 2. Show it, unless it is what was shown last.
		if stat.Modified != seen {
			seen = stat.Modified
			see(value)
		}
		// 3. Wait a little, then read again.
		if err := drivers.Pause(ctx, configInterval); err != nil {
			return err
		}
	}
}

// Set changes the value. One client at a time may: a change whose reply is lost
// is made again, over any that came in between.
func (c *Config) Set(ctx context.Context, value []byte) error {
	err := drivers.Repeat(func() error {
		_, err := c.conn.Set(ctx, c.node, value, drivers.AnyVersion)
		return err
	})
	if err != nil {
		return fmt.Errorf("set config %s: %w", c.node, err)
	}
	return nil
}
