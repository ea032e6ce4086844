package zookeeper

import (
	"encoding/binary"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// rearming is a connection that takes a session up again. After a reconnect the
// library sets its watches again with a request that it does not order among
// those of its callers, so that a reply could show a change before its watch
// tells of it; and the library itself is not ready for an answer before it has
// made that request. Here it goes first: what is sent before it is kept back.
//
// The library sends a packet with each Write, and one at a time.
type rearming struct {
	*wire.Tap
	opened bool   // the request that opens the session was sent
	kept   []byte // nil once the watches are set
}

func newRearming(tap *wire.Tap) *rearming { return &rearming{Tap: tap, kept: []byte{}} }

// Write sends p, or keeps it for after the watches.
func (r *rearming) Write(p []byte) (int, error) {
	switch {
	case !r.opened:
		r.opened = true
	case r.kept == nil || operation(p) == wire.OpAuth:
	case operation(p) != wire.OpSetWatches:
		r.kept = append(r.kept, p...)
		return len(p), nil
	default:
		all := append(p[:len(p):len(p)], r.kept...)
		r.kept = nil
		n, err := r.Tap.Write(all)
		return min(n, len(p)), err
	}
	return r.Tap.Write(p)
}

// operation is the opcode of a packet, or 0 if it is too short to have one.
func operation(p []byte) int32 {
	if len(p) < wire.LengthSize+wire.RequestHeaderSize {
		return 0
	}
	return int32(binary.BigEndian.Uint32(p[wire.LengthSize+4:]))
}
