package recipes

import (
	"context"
	"fmt"

	"github.com/stampede-bench/stampede/drivers"
)

// A PersistentConfig is a [Config] that is followed with one persistent watch,
// so no read has to arm a watch again. A client that is slow to read is
// notified of every change, not only of the first since its last read.
// Cost: N clients, U changes: N·U notifications, N(1+U) reads, U writes; a
// change wakes N.
type PersistentConfig struct {
	Config
	conn drivers.PersistentWatcher
}

// NewPersistentConfig returns the config whose value is the data of node, an
// existing node.
func NewPersistentConfig(conn drivers.PersistentWatcher, node string) *PersistentConfig {
	return &PersistentConfig{Config: *NewConfig(conn, node), conn: drivers.Persistent(conn)}
}

// Follow is like [Config.Follow].
func (c *PersistentConfig) Follow(ctx context.Context, see func(value []byte)) error {
	return fmt.Errorf("follow config %s: %w", c.node, c.follow(ctx, see))
}

func (c *PersistentConfig) follow(ctx context.Context, see func(value []byte)) error {
	// 1. Set a persistent watch on the node.
	var changes drivers.Feed
	stop, err := c.conn.WatchNode(ctx, c.node, changes.Fire)
	if err != nil {
		return err
	}
	defer stop()
	for seen := int64(0); ; {
		// 2. Get the node, without a watch.
		value, stat, err := c.conn.Get(ctx, c.node, nil)
		if err != nil {
			return err
		}
		// 3. Call see, if the value has changed since the last call.
		if stat.Modified != seen {
			seen = stat.Modified
			see(value)
		}
		// 4. Wait for the watch to fire, then go to step 2: one read covers all
		// changes so far.
		if _, err := changes.Await(ctx); err != nil {
			return err
		}
	}
}
