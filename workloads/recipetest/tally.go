package recipetest

import (
	"sync"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

// A tally is the plainest drivers.Probe: what one session sent and received, in
// the words of the cost model. It is kept apart from the accounting that runs
// use, so that each can be held against the other.
type tally struct {
	mu       sync.Mutex
	counts   metrics.Counts
	messages int64 // of every kind but heartbeats and fences
	armed    int   // watches that have not fired
	open     int   // requests that have not been answered
}

// Message counts.
func (t *tally) Message(m drivers.Message) {
	if m.Op == drivers.OpPing || m.Op == drivers.OpFence {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.messages++
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
	if m.Op.IsRead() {
		c.Reads++
	}
	if m.Op.IsWrite() {
		c.Writes++
		c.FailedWrites += one(m.Err != nil)
	}
	if m.Op == drivers.OpChildren {
		c.Lists++
	}
	if !m.Watch {
		return
	}
	switch m.Op {
	case drivers.OpExists:
		c.WatchedExists++
		c.WatchedMisses += one(m.Err != nil)
	case drivers.OpGet:
		c.WatchedGets++
		c.MissedGets += one(m.Err != nil)
	}
	if m.Err == nil || m.Op == drivers.OpExists {
		t.armed++
	}
}

func one(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

func (t *tally) total() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.messages
}

// waits tells that a watch is armed and nothing is under way: what a client
// that watches one node at a time looks like when it is parked.
func (t *tally) waits() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.armed > 0 && t.open == 0
}

// sum is the counts of all clients of the trial.
func (x *lockTrial) sum() metrics.Counts {
	var s metrics.Counts
	for _, c := range x.clients {
		c.tally.mu.Lock()
		n := c.tally.counts
		c.tally.mu.Unlock()
		s.Notifications += n.Notifications
		s.Reads += n.Reads
		s.Writes += n.Writes
		s.FailedWrites += n.FailedWrites
		s.Lists += n.Lists
		s.WatchedExists += n.WatchedExists
		s.WatchedMisses += n.WatchedMisses
		s.WatchedGets += n.WatchedGets
		s.MissedGets += n.MissedGets
	}
	return s
}
