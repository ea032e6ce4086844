package zookeeper

import (
	"encoding/binary"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// link is the library's end of a connection. It corrects four problems of the library:
//
//   - When a session is resumed, the library arms its watches again, in one or more
//     requests, but may send calls of its callers before them. A reply could then
//     show a change before its watch reports it. link sends the requests that arm
//     watches first, and holds back all other calls until the last of them.
//   - The library records the position of each reply, and concurrently reads it for
//     these requests. link hides the positions of replies from the library, and
//     writes the right position into the requests.
//   - The library can block forever when it reports the end of a connection to a
//     request that has already had two reports: of a failed Write and of Close. With
//     link, Write never fails. Instead link closes the connection, and the reader
//     gets the error.
//   - The library sets and clears a deadline around every packet in each direction,
//     which costs more than all that link adds. link sets no deadline that nearly
//     equals the last one.
//
// The library sends one packet with each Write, and one at a time.
type link struct {
	*wire.Tap
	dialer   *dialer       // learns how a connection ended that led to no session
	position *atomic.Int64 // of the last write that the session may have seen
	rearm    *rearm
	opened   bool                      // the request that opens the session was sent
	unarmed  map[string]wire.WatchKind // the watches that the library has not yet armed
	arms     int64                     // number of packets that arm watches
	kept     []byte                    // packets held back until all are armed

	answered bool // the reply that opens the session has been read
	at, size int  // in the packet being read, including its length

	readBy, writeBy deadline
}

// deadline is the last deadline that was set.
type deadline struct{ at time.Time }

// slack is the time by which a deadline may be early.
const slack = 20 * time.Millisecond

// moves reports whether a deadline has to be set. A deadline is never cleared, since the
// library sets the next one before it reads or writes again.
func (d *deadline) moves(to time.Time) bool {
	if late := to.Sub(d.at); to.IsZero() || late >= 0 && late < slack {
		return false
	}
	d.at = to
	return true
}

// SetReadDeadline sets the deadline of reads.
func (l *link) SetReadDeadline(t time.Time) error {
	if l.readBy.moves(t) {
		return l.Tap.SetReadDeadline(t)
	}
	return nil
}

// SetWriteDeadline sets the deadline of writes.
func (l *link) SetWriteDeadline(t time.Time) error {
	if l.writeBy.moves(t) {
		return l.Tap.SetWriteDeadline(t)
	}
	return nil
}

// Offsets of positions in packets, including the length.
const (
	seenAt     = 8  // in the request that opens a session
	relativeAt = 12 // in the one that arms watches
	zxidAt     = 8  // in replies
	zxidEnd    = 16
)

// Write sends p, or holds it back until all watches have been sent. Credentials and heartbeats
// are not held back: their replies show no change.
func (l *link) Write(p []byte) (int, error) {
	op := operation(p)
	switch {
	case !l.opened:
		l.opened = true
		tell(p, seenAt, l.position.Load())
		l.send(p)
	case op == wire.OpSetWatches:
		l.arm(p)
	case len(l.unarmed) > 0 && op != wire.OpAuth && op != wire.OpPing:
		l.kept = append(l.kept, p...)
	default:
		l.send(p)
	}
	return len(p), nil
}

// arm sends a request that arms watches, and after the last one the packets held back.
func (l *link) arm(p []byte) {
	tell(p, relativeAt, l.rearm.told.Load())
	waits := len(l.unarmed) > 0
	l.armed(p)
	l.arms++
	if waits && len(l.unarmed) == 0 {
		l.rearm.last.Store(l.arms)
		p = append(p[:len(p):len(p)], l.kept...)
		l.kept = nil
	}
	l.send(p)
}

// armed removes the watches in a request from those still to be armed.
func (l *link) armed(p []byte) {
	d := wire.NewDecoder(p[wire.LengthSize+wire.RequestHeaderSize:])
	var r wire.SetWatchesRequest
	r.Decode(&d)
	for _, path := range r.Data {
		remove(l.unarmed, path, wire.DataWatch)
	}
	for _, path := range r.Exist {
		remove(l.unarmed, path, wire.ExistWatch)
	}
	for _, path := range r.Child {
		remove(l.unarmed, path, wire.ChildWatch)
	}
}

func (l *link) send(p []byte) {
	if _, err := l.Tap.Write(p); err != nil {
		l.Tap.Close()
	}
}

// tell writes a position into a packet.
func tell(p []byte, at int, position int64) {
	if len(p) >= at+8 {
		binary.BigEndian.PutUint64(p[at:], uint64(position))
	}
}

// operation returns the opcode of a packet, or 0 if it is too short to have one.
func operation(p []byte) int32 {
	if len(p) < wire.LengthSize+wire.RequestHeaderSize {
		return 0
	}
	return int32(binary.BigEndian.Uint32(p[wire.LengthSize+4:]))
}

// Read reads replies and clears their positions.
func (l *link) Read(p []byte) (int, error) {
	n, err := l.Tap.Read(p)
	for rest := p[:n]; len(rest) > 0; {
		rest = rest[l.pass(rest):]
	}
	if err != nil && !l.answered {
		l.dialer.failed(err)
	}
	return n, err
}

// pass processes p up to the end of the current packet, or of its length field, and returns
// how many bytes that was.
func (l *link) pass(p []byte) int {
	if l.at < wire.LengthSize {
		n := min(wire.LengthSize-l.at, len(p))
		for _, b := range p[:n] {
			l.size = l.size<<8 | int(b)
		}
		l.at += n
		return n
	}
	n := min(wire.LengthSize+l.size-l.at, len(p))
	if l.answered && l.at < zxidEnd {
		clear(p[min(max(zxidAt-l.at, 0), n):min(zxidEnd-l.at, n)])
	}
	l.at += n
	if l.at == wire.LengthSize+l.size {
		l.at, l.size, l.answered = 0, 0, true
		l.rearm.read()
	}
	return n
}
