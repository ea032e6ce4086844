package settled

import (
	"context"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

// resetServerCount resets the server's own count and returns ours at that moment. counting is nil if the
// server keeps no count, or if this run did not start the server: other clients may use that
// server, and its statistics are not ours to reset.
func (st *Stepper) resetServerCount(ctx context.Context) (counting drivers.ServerStats, before metrics.Counts, err error) {
	counting, _ = st.pool.Service.(drivers.ServerStats)
	if counting == nil || st.pool.Service.Info().Started == "" {
		return nil, st.pool.Meter.Counts(), nil
	}
	err = st.whileQuiet(ctx, func() error {
		if counting.Reset(ctx) != nil {
			counting = nil
		}
		before = st.pool.Meter.Counts()
		return nil
	})
	return counting, before, err
}

// serverCount returns what the server has counted since resetServerCount, without heartbeats, watches armed
// again, flushes and syncs. It returns nil if the server does not count in our terms. With
// persistent watches no server does: ZooKeeper counts arming one as a read, and counts two
// notifications for the deletion of a watched node, one in each of its watch tables, though it
// sends one.
func (st *Stepper) serverCount(ctx context.Context, counting drivers.ServerStats, before metrics.Counts) (*drivers.Counters, error) {
	var server drivers.Counters
	var ours metrics.Counts
	err := st.whileQuiet(ctx, func() (err error) {
		ours = st.pool.Meter.Counts().Sub(before)
		server, err = counting.Counters(ctx)
		return err
	})
	if err != nil || !server.OurTerms || ours.Armings > 0 {
		return nil, err
	}
	server.Reads -= unrequested(ours) + ours.Flushes + ours.Syncs
	return &server, nil
}

// unrequested returns the number of requests that a client library sends by itself: heartbeats, and
// requests that arm watches again. go-zookeeper also sends the latter some time after a first
// connection, if a watch is armed by then.
func unrequested(c metrics.Counts) int64 { return c.Pings + c.Rearms }

// whileQuiet calls look while no request of the client libraries is in transit: a request that only
// one side has counted would appear as a read. If one is sent in the meantime, quietly calls look
// again.
func (st *Stepper) whileQuiet(ctx context.Context, look func() error) error {
	for {
		if err := st.pool.Flush(ctx); err != nil {
			return err
		}
		before := unrequested(st.pool.Meter.Counts())
		if err := look(); err != nil {
			return err
		}
		if err := st.pool.Flush(ctx); err != nil {
			return err
		}
		if unrequested(st.pool.Meter.Counts()) == before {
			return nil
		}
	}
}
