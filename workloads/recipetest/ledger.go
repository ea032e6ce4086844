package recipetest

import (
	"sync"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

// A ledger counts what all sessions of a trial sent and received, in the terms of the
// cost model and in the simplest way. It is independent of the accounting of measured
// runs, so that each can be checked against the other.
type ledger struct {
	mu       sync.Mutex
	counts   metrics.Counts
	messages int64 // of all kinds except heartbeats and flushes
}

func (l *ledger) read() metrics.Counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counts
}

// A tally is the probe of one session. It writes to the ledger.
type tally struct {
	*ledger
	armed int // watches that have not fired
	open  int // requests that have not been answered
}

// Message counts a message.
func (t *tally) Message(m drivers.Message) {
	if m.Op == drivers.OpPing || m.Op == drivers.OpFlush {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.messages++
	if m.Op == drivers.OpOther && !m.Watch && m.Kind != drivers.Notification && m.Kind != drivers.Cut {
		return // the library's own traffic
	}
	switch m.Kind {
	case drivers.Request:
		t.open++
	case drivers.Notification:
		t.counts.Notifications++
		t.armed--
	case drivers.Reply:
		t.open--
		t.reply(m)
	case drivers.Cut:
		t.open = 0
	}
}

func (t *tally) reply(m drivers.Message) {
	c := &t.counts
	switch {
	case m.Op.IsRead():
		c.Reads++
	case m.Op.IsWrite():
		c.Writes++
		c.FailedWrites += one(m.Err != nil)
	}
	switch {
	case m.Op == drivers.OpChildren:
		c.Lists++
	case m.Op == drivers.OpExists && m.Watch:
		c.WatchedExists++
		c.WatchedMisses += one(m.Err != nil)
	case m.Op == drivers.OpGet && m.Watch:
		c.WatchedGets++
		c.MissedGets += one(m.Err != nil)
	}
	if m.Watch && (m.Err == nil || m.Op == drivers.OpExists) {
		t.armed++
	}
}

func one(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

// waits reports whether a watch is armed and no request is open. A client that watches
// one node at a time is in this state when it is parked.
func (t *tally) waits() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.armed > 0 && t.open == 0
}
