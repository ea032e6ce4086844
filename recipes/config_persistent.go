package recipes

import (
	"context"
	"fmt"

	"github.com/stampede-bench/stampede/drivers"
)

// A PersistentConfig is a [Config] that is followed with one watch which stays,
// instead of one that each read arms. Nothing has to be armed again, but somebody
// who is slow to read is told of every change, not only of the first.
// Cost: N clients, U changes: N·U notifications, N(1+U) reads, U writes; a
// change wakes N.
type PersistentConfig struct {
	Config
	conn drivers.PersistentWatcher
}

// NewPersistentConfig returns the config whose value is that of node, which is
// there already.
func NewPersistentConfig(conn drivers.PersistentWatcher, node string) *PersistentConfig {
	return &PersistentConfig{Config: *NewConfig(conn, node), conn: drivers.Persistent(conn)}
}

// Follow is as [Config.Follow].
func (c *PersistentConfig) Follow(ctx context.Context, see func(value []byte)) error {
	return fmt.Errorf("follow config %s: %w", c.node, c.follow(ctx, see))
}

func (c *PersistentConfig) follow(ctx context.Context, see func(value []byte)) error {
	// 1. Watch the value, for good.
	var changes drivers.Feed
	stop, err := c.conn.WatchNode(ctx, c.node, changes.Fire)
	if err != nil {
		return err
	}
	defer stop()
	for seen := int64(0); ; {
		// 2. Read it, without a watch.
		value, stat, err := c.conn.Get(ctx, c.node, nil)
		if err != nil {
			return err
		}
		// 3. Show it, unless it is what was shown last.
		if stat.Modified != seen {
			seen = stat.Modified
			see(value)
		}
		// 4. Wait for changes, then read again: one read will do for all
		// that have come.
		if _, err := changes.Await(ctx); err != nil {
			return err
		}
	}
}
