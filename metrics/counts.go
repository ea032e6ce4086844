package metrics

// Sub returns the counts between an earlier moment and c.
func (c Counts) Sub(earlier Counts) Counts { return c.combine(earlier, -1) }

// Add returns the sum of both.
func (c Counts) Add(d Counts) Counts { return c.combine(d, 1) }

func (c Counts) combine(d Counts, sign int64) Counts {
	c.Notifications += sign * d.Notifications
	c.Reads += sign * d.Reads
	c.Writes += sign * d.Writes
	c.FailedWrites += sign * d.FailedWrites
	c.Lists += sign * d.Lists
	c.WatchedExists += sign * d.WatchedExists
	c.WatchedMisses += sign * d.WatchedMisses
	c.WatchedGets += sign * d.WatchedGets
	c.MissedGets += sign * d.MissedGets
	c.Syncs += sign * d.Syncs
	c.Armings += sign * d.Armings
	c.RPCs += sign * d.RPCs
	c.Pings += sign * d.Pings
	c.Flushes += sign * d.Flushes
	c.Rearms += sign * d.Rearms
	c.BytesIn += sign * d.BytesIn
	c.BytesOut += sign * d.BytesOut
	c.Useful += sign * d.Useful
	c.Wasted += sign * d.Wasted
	c.Cuts += sign * d.Cuts
	return c
}
