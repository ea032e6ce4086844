package zookeeper

import (
	"encoding/binary"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// link is the library's end of a connection. It makes good what the library does
// not:
//
//   - When a session is taken up again, the library arms its watches anew, in one
//     or more requests. It does not order them among those of its callers, so a
//     reply could show a change before its watch tells of it. Here they go first:
//     what is sent before the last of them is kept back.
//   - The library notes the position of each reply, and meanwhile reads it for
//     those requests. Here no reply tells it a position, and the requests get ours.
//   - It waits for ever for room to tell a request of the end of the connection
//     when it has told of a failed Write and of its Close before. Here no Write
//     fails: the connection is closed, which the reader notices.
//   - It sets and clears a deadline around every packet each way, which costs more
//     than all that is added here. Nearly the same deadline is not set again.
//
// The library sends a packet with each Write, and one at a time.
type link struct {
	*wire.Tap
	dialer   *dialer       // is told how a connection ended that led to no session
	position *atomic.Int64 // of the last write that the session can have seen
	rearm    *rearm
	opened   bool                      // the request that opens the session was sent
	unarmed  map[string]wire.WatchKind // the watches that the library has yet to arm
	arms     int64                     // packets that arm watches
	kept     []byte                    // until all are armed

	answered bool // the reply that opens the session has been read
	at, size int  // in the packet being read, its length included

	readBy, writeBy deadline
}

// deadline is the last that was set.
type deadline struct{ at time.Time }

// slack is by how much a deadline may be early.
const slack = 20 * time.Millisecond

// moves tells whether a deadline has to be set. One that was met is left where
// it is, since the library sets the next before it reads or writes again.
func (d *deadline) moves(to time.Time) bool {
	if late := to.Sub(d.at); to.IsZero() || late >= 0 && late < slack {
		return false
	}
	d.at = to
	return true
}

// SetReadDeadline sets when reading fails.
func (l *link) SetReadDeadline(t time.Time) error {
	if l.readBy.moves(t) {
		return l.Tap.SetReadDeadline(t)
	}
	return nil
}

// SetWriteDeadline sets when writing fails.
func (l *link) SetWriteDeadline(t time.Time) error {
	if l.writeBy.moves(t) {
		return l.Tap.SetWriteDeadline(t)
	}
	return nil
}

// Where positions are in packets, their length included.
const (
	seenAt     = 8  // in the request that opens a session
	relativeAt = 12 // in the one that arms watches
	zxidAt     = 8  // in replies
	zxidEnd    = 16
)

// Write sends p, or keeps it until all watches are on their way. Credentials and
// heartbeats do not wait: their replies show no change.
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

// arm sends a request that arms watches, and after the last one what was kept.
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

// armed removes the watches that a request arms from those that are to be armed.
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

// operation is the opcode of a packet, or 0 if it is too short to have one.
func operation(p []byte) int32 {
	if len(p) < wire.LengthSize+wire.RequestHeaderSize {
		return 0
	}
	return int32(binary.BigEndian.Uint32(p[wire.LengthSize+4:]))
}

// Read reads replies without their positions.
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

// pass goes on in the packet being read, to the end of its length or its own at
// most, and returns how far.
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
