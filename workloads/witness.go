package workloads

import (
	"context"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

// swearIn resets the server's own count and returns ours at that moment. The witness is nil if the
// server keeps no count, or if this run did not start the server: other clients may use that
// server, and its statistics are not ours to reset.
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

// testimony returns what the server has counted since swearIn, without heartbeats, watches armed
// again, fences and syncs. It returns nil if the server does not count in our terms. With
// persistent watches no server does: ZooKeeper counts arming one as a read, and counts two
// notifications for the deletion of a watched node, one in each of its watch tables, though it
// sends one.
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

// unasked returns the number of requests that a client library sends by itself: heartbeats, and
// requests that arm watches again. go-zookeeper also sends the latter some time after a first
// connection, if a watch is armed by then.
func unasked(c metrics.Counts) int64 { return c.Pings + c.Rearms }

// quietly calls look while no request of the client libraries is in transit: a request that only
// one side has counted would appear as a read. If one is sent in the meantime, quietly calls look
// again.
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
