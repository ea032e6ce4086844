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
	server.Reads -= unasked(ours) + ours.Fences + ours.Syncs
	return &server, nil
}

// unasked is what a client library sends by itself: heartbeats, and what arms
// watches again. go-zookeeper does the latter on a first connection too, some time
// after it, if by then there is a watch.
func unasked(c metrics.Counts) int64 { return c.Pings + c.Rearms }

// quietly looks at the server while nothing that nobody asked for is on its way:
// what we have counted and the server has not, or the other way round, would be
// taken for a read. If something comes in between it looks again.
func (c *crew) quietly(ctx context.Context, look func() error) error {
	for {
		if err := c.fence(ctx); err != nil {
			return err
		}
		before := unasked(c.meter.Counts())
		if err := look(); err != nil {
			return err
		}
		if err := c.fence(ctx); err != nil {
			return err
		}
		if unasked(c.meter.Counts()) == before {
			return nil
		}
	}
}
