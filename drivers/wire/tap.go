package wire

import (
	"encoding/binary"
	"errors"
	"math"
	"net"
	"os"
	"sync"

	"github.com/stampede-bench/stampede/drivers"
)

// FlushPath is the path, of a node that is never created, that a [drivers.Flusher] uses: an
// exists or a sync of a path that ends in it is [drivers.OpFlush].
const FlushPath = "/.stampede-flush"

// ErrReplyLost is the error of a Tap's Read that dropped a reply because lose asked for it.
var ErrReplyLost = errors.New("reply lost on demand")

// A Tap is the client's end of a connection to a ZooKeeper server. It reports every packet to
// a [drivers.Probe] and passes all bytes on unchanged, even if they are no valid packets. For
// one connection the probe gets one message at a time: a request before its last byte is sent,
// a reply or notification before its first byte is returned to the reader, and [drivers.Cut]
// once, as the last message.
//
// The Tap reads through a buffer of its own, so a client that reads first the length and then
// the rest costs one system call instead of two. Large packets pass without being buffered as
// a whole. In steady state it allocates nothing.
type Tap struct {
	net.Conn
	probe drivers.Probe
	lose  func(drivers.Message) bool

	in inbound // belongs to the reader

	mu      sync.Mutex // guards what follows, and is held while the probe is called
	out     outbound
	pending ring
	refused int64 // bytes of requests that the ring had no room for

	malformed int64 // bytes of requests that are no packets
	cut       bool
	session   ConnectResponse
	resumes   bool // the client asked to resume a session
}

// NewTap puts a tap on a connection that has not been used yet. If lose is set it is called
// for every reply, and the reply waits for its result. If it returns true, the reply is
// dropped, the probe gets the cut instead, the connection is closed and Read returns
// ErrReplyLost.
func NewTap(conn net.Conn, probe drivers.Probe, lose func(drivers.Message) bool) *Tap {
	return &Tap{Conn: conn, probe: probe, lose: lose, in: inbound{buf: make([]byte, inboundSize)}}
}

// Session returns the server's response when the session was opened or resumed; zero before
// that.
func (t *Tap) Session() ConnectResponse {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.session
}

// Close closes the connection.
func (t *Tap) Close() error {
	t.ended()
	return t.Conn.Close()
}

// Write reports the requests in p and sends p.
func (t *Tap) Write(p []byte) (int, error) {
	t.mu.Lock()
	t.requests(p)
	t.mu.Unlock()
	n, err := t.Conn.Write(p)
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		t.ended()
	}
	return n, err
}

// Read returns bytes of the packet that was reported last. After its last byte, Read reports
// the next packet.
func (t *Tap) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return t.Conn.Read(p)
	}
	if t.in.left == 0 {
		if err := t.next(); err != nil {
			return 0, err
		}
	}
	p = p[:min(len(p), t.in.left)]
	if t.in.buffered() > 0 {
		n := copy(p, t.in.buf[t.in.start:t.in.end])
		t.in.start += n
		t.in.left -= n
		return n, nil
	}
	if t.in.err != nil {
		return 0, t.in.err
	}
	n, err := t.Conn.Read(p)
	t.in.left -= n
	if err != nil {
		t.failed(err)
	}
	return n, err
}

// next waits for the beginning of the next packet and reports the packet. It waits for the
// whole packet if that fits into the buffer: servers send such packets as a whole.
func (t *Tap) next() error {
	if err := t.in.err; err != nil {
		return err
	}
	if err := t.fill(4); err != nil || t.in.err != nil {
		return err
	}
	size := int(int32(binary.BigEndian.Uint32(t.in.buf[t.in.start:])))
	if size < 0 {
		t.in.left = math.MaxInt // invalid packets from here on: pass all bytes
		return nil
	}
	total := size + 4
	if err := t.fill(min(total, len(t.in.buf))); err != nil || t.in.err != nil {
		return err
	}
	if total > len(t.in.buf) && total <= MaxPacket && t.needsAll(t.in.packet(total)) {
		if err := t.fill(total); err != nil || t.in.err != nil {
			return err
		}
	}
	if !t.reply(t.in.packet(total), total) {
		t.in.err, t.in.start = ErrReplyLost, t.in.end
		t.Conn.Close()
		return ErrReplyLost
	}
	t.in.left = total
	return nil
}

// fill reads until n bytes are buffered. If the connection ends before that, it returns no
// error as long as there are bytes for the reader. The incomplete packet is not reported.
func (t *Tap) fill(n int) error {
	t.in.room(n)
	for t.in.buffered() < n {
		m, err := t.Conn.Read(t.in.buf[t.in.end:])
		t.in.end += m
		if err == nil {
			continue
		}
		t.failed(err)
		if t.in.err == nil || t.in.buffered() == 0 {
			return err // only the reader gets a timeout: it may try again
		}
		t.in.left = t.in.buffered()
		return nil
	}
	return nil
}

func (t *Tap) failed(err error) {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.in.err = err
		t.ended()
	}
}

// ended reports the cut, once.
func (t *Tap) ended() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tell(drivers.Message{Kind: drivers.Cut})
	t.cut = true
}

// tell reports a message to the probe. The caller holds the lock.
func (t *Tap) tell(m drivers.Message) {
	if !t.cut {
		t.probe.Message(m)
	}
}

const inboundSize = 4 << 10

// inbound holds what was received and not yet returned to the reader: buf[start:end].
type inbound struct {
	buf        []byte
	start, end int
	left       int   // bytes to return before the next packet begins
	err        error // how the connection ended
	opened     bool  // the packet that opens the session has passed
}

func (in *inbound) buffered() int { return in.end - in.start }

// packet returns the buffered part of the payload of the packet that begins at start and has
// total bytes.
func (in *inbound) packet(total int) []byte {
	return in.buf[in.start+4 : min(in.end, in.start+total)]
}

// room makes room for n bytes from start.
func (in *inbound) room(n int) {
	if in.start+n <= len(in.buf) {
		return
	}
	to := in.buf
	if n > len(to) {
		to = make([]byte, n)
	}
	in.end = copy(to, in.buf[in.start:in.end])
	in.buf, in.start = to, 0
}

// ring holds the unanswered requests in their order, which is also that of the replies. It
// reuses its slots and their paths.
type ring struct {
	slots      []pending // length is a power of two
	head, tail uint      // slots[head:tail], modulo the length
	paths      bool      // keep the paths of reads that arm no watch, too
	limit      uint      // how many it keeps, 0 for any number
	lossy      bool      // replies may be missing: one answers all requests before its own
}

type pending struct {
	xid   int32
	code  int32 // of the request
	op    drivers.Op
	watch bool
	mode  drivers.Mode
	kinds drivers.WatchKinds // that it removes
	gone  bool               // answered before an earlier one
	path  []byte             // empty for reads that arm no watch, unless the ring keeps all paths
	parts []drivers.TxnOp
}

func (r *ring) slot(i uint) *pending { return &r.slots[i&uint(len(r.slots)-1)] }

// full reports whether the ring keeps no further request.
func (r *ring) full() bool { return r.limit > 0 && r.tail-r.head >= r.limit }

func (r *ring) push(xid int32, m *drivers.Message) {
	if r.tail-r.head == uint(len(r.slots)) {
		r.grow()
	}
	p := r.slot(r.tail)
	p.xid, p.op, p.watch, p.mode, p.kinds, p.gone = xid, m.Op, m.Watch, m.Mode, m.Removes, false
	p.path = p.path[:0]
	if r.paths || m.Watch || !m.Op.IsRead() {
		p.path = append(p.path, m.Path...)
	}
	p.keepParts(m.Parts)
	r.tail++
}

func (r *ring) grow() {
	slots := make([]pending, max(8, 2*len(r.slots)))
	for i := r.head; i != r.tail; i++ {
		slots[i&uint(len(slots)-1)] = *r.slot(i)
	}
	r.slots = slots
}

// find returns the index of the request with the xid. It is the first request, unless a server
// answers out of order.
func (r *ring) find(xid int32) (i uint, found bool) {
	for i := r.head; i != r.tail; i++ {
		if p := r.slot(i); p.xid == xid && !p.gone {
			return i, true
		}
	}
	return 0, false
}

// done removes a request that find found.
func (r *ring) done(i uint) {
	r.slot(i).gone = true
	if r.lossy {
		r.head = i
	}
	for r.head != r.tail && r.slot(r.head).gone {
		r.head++
	}
}
