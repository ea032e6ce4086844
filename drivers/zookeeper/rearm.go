package zookeeper

import (
	"maps"
	"sync/atomic"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// rearm tracks how the library arms its watches again after a reconnect. The library sends as
// many packets as the paths need, each one only after the previous one is answered. A change
// during the disconnect fires its watch only if every packet carries the position up to which
// the session was notified of all changes, also if the connection breaks between two packets.
// In that case the library also sends the packets of the old connection on the next one.
//
// The goroutine that reads a connection changes rearm. The goroutine that connects uses it
// between two connections.
type rearm struct {
	library map[string]wire.WatchKind // the library's watches, by path on the server
	path    string                    // of the watch armed by the reply that the library is reading
	kind    wire.WatchKind            // of that watch; 0 if the reply arms none
	under   bool                      // the library is arming its watches again
	replies int64                     // to packets that arm watches, on this connection
	last    atomic.Int64              // number of such packets that arm all watches; 0 until they are sent
	told    atomic.Int64              // the session was notified of all changes up to this position
}

// begin is called for each new connection. It returns the watches that the library will arm on
// it.
func (r *rearm) begin() map[string]wire.WatchKind {
	r.kind, r.replies, r.under = 0, 0, len(r.library) > 0
	r.last.Store(0)
	return maps.Clone(r.library)
}

// replied records a reply that the library is about to read.
func (r *rearm) replied(m *drivers.Message, position int64) {
	if m.Watch {
		r.path, r.kind = string(m.Path), kindOf(m)
	}
	if m.Op == drivers.OpRearm {
		r.replies++
		r.under = r.under && r.replies != r.last.Load()
	}
	if !r.under {
		r.told.Store(position)
	}
}

// read is called when the library has read a packet completely: only then does it have the
// watch.
func (r *rearm) read() {
	if r.kind == 0 {
		return
	}
	if r.library == nil {
		r.library = make(map[string]wire.WatchKind)
	}
	r.library[r.path] |= r.kind
	r.kind = 0
}

// fired removes the watches that a notification fires, as the library does.
func (r *rearm) fired(m *drivers.Message) {
	remove(r.library, string(m.Path), wire.FiredBy(m.Event))
}

// remove removes watches on a path.
func remove(all map[string]wire.WatchKind, path string, kinds wire.WatchKind) {
	if left := all[path] &^ kinds; left != 0 {
		all[path] = left
	} else {
		delete(all, path)
	}
}
