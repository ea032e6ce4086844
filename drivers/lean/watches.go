package lean

import (
	"sync"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// watches are the watches of one session, by the path on the server. The replies
// to the calls that arm them and the notifications that call them come from one
// goroutine, in the order of the connection.
type watches struct {
	mu       sync.Mutex
	armed    map[string]*watch // lists of those that fire once
	places   map[string]*place // of lasting ones
	removing map[string]int    // requests on their way that disarm all on a path
	away     bool              // lasting ones are not armed for the time being
	ended    bool

	due []due // belongs to who reads
}

// asking must be told of every call just before it is added to those that are
// sent, and decides what it asks of the server. It returns false if the call has
// become needless.
func (t *watches) asking(k *call) bool {
	lasting := k.code == wire.OpAddWatch || k.code == wire.OpRemoveWatches
	if k.watch == nil && !lasting {
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

// lapsed tells of an answered read whose watch is not armed at the server, or
// not for long: what it counted on has been disarmed since it was asked.
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

// settled must be told of every call that is answered, or never will be.
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
