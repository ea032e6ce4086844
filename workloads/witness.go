package workloads

import (
	"context"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

// swearIn starts a server's own count anew and returns ours at that moment. The
// witness is nil where the server keeps no count, or where it is not ours to
// reset: others may use a given server, and its statistics are theirs.
func (c *crew) swearIn(ctx context.Context) (witness drivers.Witness, before metrics.Counts, err error) {
	witness, _ = c.service.(drivers.Witness)
	if witness == nil || c.service.Info().Started == "" {
		return nil, c.meter.Counts(), nil
	}
	err = c.quietly(ctx, func() error {
		if witness.Reset(ctx) != nil {
			witness = nil
		}
		before = c.meter.Counts()
		return nil
	})
	return witness, before, err
}

// testimony is what the server counted since, heartbeats and fences taken out,
// or nil if it counts in terms of its own. As to persistent watches all do: to
// ZooKeeper arming one is a read, and the end of a watched node two notifications,
// one in each of its tables, of which it sends one.
func (c *crew) testimony(ctx context.Context, witness drivers.Witness, before metrics.Counts) (*drivers.Counters, error) {
	var server drivers.Counters
	var ours metrics.Counts
	err := c.quietly(ctx, func() (err error) {
		ours = c.meter.Counts().Sub(before)
		server, err = witness.Counters(ctx)
		return err
	})
	if err != nil || !server.OurTerms || ours.Armings > 0 {
		return nil, err
	}
	server.Reads -= ours.Pings + ours.Fences + ours.Syncs
	return &server, nil
}

// quietly looks at the server while no heartbeat is on its way: one that we have
// counted and the server has not, or the other way round, would be taken for a
// read. If one comes in between it looks again.
func (c *crew) quietly(ctx context.Context, look func() error) error {
	for {
		if err := c.fence(ctx); err != nil {
			return err
		}
		pings := c.meter.Counts().Pings
		if err := look(); err != nil {
			return err
		}
		if err := c.fence(ctx); err != nil {
			return err
		}
		if c.meter.Counts().Pings == pings {
			return nil
		}
	}
}
