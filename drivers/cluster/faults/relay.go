package faults

import (
	"encoding/binary"
	"math"
	"net"
	"sync/atomic"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// A Relay passes what a server of ZooKeeper's protocol sends to one session. It can lose the notifications of watches, or pass
// each twice, as a faulty server does. The zero Relay passes each once. Its setting applies to existing and future connections.
type Relay struct{ verb atomic.Pointer[Verb] } // Drop, Double; nil or Restore pass each once

// Do does what the verb says to the notifications from now on.
func (r *Relay) Do(v Verb) { r.verb.Store(&v) }

// copies returns how often the session gets a packet.
func (r *Relay) copies(payload []byte) int {
	d := wire.NewDecoder(payload)
	var h wire.ReplyHeader
	h.Decode(&d)
	verb := r.verb.Load()
	switch {
	case verb == nil || d.Err() != nil || h.Xid != wire.XidNotification:
		return 1
	case *verb == Drop:
		return 0
	case *verb == Double:
		return 2
	}
	return 1
}

// Wrap returns a connection that goes through the relay to c.
func (r *Relay) Wrap(c net.Conn) net.Conn {
	return &relayed{Conn: c, relay: r, frames: wire.NewFrames(c, math.MaxInt32, parcelSize)}
}

// A relayed connection is the session's end of one that goes through a relay.
type relayed struct {
	net.Conn
	relay  *Relay
	frames wire.Frames
	ready  []byte // whole packets that the session has not read yet
}

// Read reads what has passed the relay.
func (c *relayed) Read(p []byte) (int, error) {
	for len(c.ready) == 0 {
		payload, err := c.frames.Next()
		if err != nil {
			return 0, err
		}
		for range c.relay.copies(payload) {
			c.ready = append(binary.BigEndian.AppendUint32(c.ready, uint32(len(payload))), payload...)
		}
	}
	n := copy(p, c.ready)
	c.ready = c.ready[n:]
	return n, nil
}
