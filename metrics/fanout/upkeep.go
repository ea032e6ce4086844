package fanout

import (
	"sync/atomic"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

// Library is a probe that passes on only what a client library sends by itself and the server counts as reads:
// heartbeats, watches armed again, and flushes.
type Library struct{ drivers.Probe }

// Message passes on these messages.
func (l Library) Message(m drivers.Message) {
	switch m.Op {
	case drivers.OpPing, drivers.OpRearm, drivers.OpFlush:
		l.Probe.Message(m)
	}
}

// An Upkeep is the probe of the sessions in which a run makes and removes nodes. It keeps their requests apart from those
// of clients, which a [Meter] counts.
type Upkeep struct {
	Library              Library
	reads, writes, syncs atomic.Int64
}

// Message counts a request.
func (u *Upkeep) Message(m drivers.Message) {
	u.Library.Message(m)
	switch {
	case m.Kind != drivers.Request:
	case m.Op.IsRead():
		u.reads.Add(1)
	case m.Op.IsWrite():
		u.writes.Add(1)
	case m.Op == drivers.OpSync:
		u.syncs.Add(1)
	}
}

// Requests returns how many there have been.
func (u *Upkeep) Requests() metrics.Requests {
	return metrics.Requests{Reads: u.reads.Load(), Writes: u.writes.Load(), Syncs: u.syncs.Load()}
}
