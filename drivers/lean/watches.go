package lean

import (
	"sync"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// watches holds the watches of one session, by path on the server. One goroutine processes the
// replies that arm watches and the notifications that fire them, in the order of the
// connection.
type watches struct {
	mu       sync.Mutex
	armed    map[string]*watch // lists of one-shot watches
	places   map[string]*place // of persistent watches
	removing map[string]int    // requests in flight that disarm all watches on a path
	away     bool              // persistent watches are temporarily not armed
	ended    bool

	due []due // belongs to the goroutine that reads
}

// asking must be called with every call just before it is queued. It decides what the call
// requests from the server. It returns false if the call is no longer needed.
func (t *watches) asking(k *call) bool {
	persistent := k.code == wire.OpAddWatch || k.code == wire.OpRemoveWatches
	if k.watch == nil && !persistent {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.places[k.server]
	switch k.code {
	case wire.OpAddWatch:
		t.occupy(k)
	case wire.OpRemoveWatches:
		return t.vacate(k.server)
	default:
		k.covered = p != nil
		k.arms = !k.covered
	}
	return true
}

// lapsed reports whether an answered read has no watch at the server, or will soon lose it:
// the watch that it relied on has been disarmed since the read was sent.
func (t *watches) lapsed(k *call) bool {
	if k.watch == nil || !k.op.IsRead() || k.failure() != nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if k.covered {
		return t.places[k.server] == nil
	}
	return t.removing[k.server] > 0
}

// settled must be called with every call that is answered or will never be.
func (t *watches) settled(k *call) {
	switch {
	case k.code == wire.OpAddWatch:
		t.agreed(k)
	case k.code == wire.OpRemoveWatches:
		t.removed(k.server)
	case k.last && k.failure() == nil:
		t.rearmed()
	case k.op.IsRead() && k.watch != nil && k.failure() == nil:
		t.arm(k)
	}
}
