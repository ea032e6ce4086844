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

// FencePath is the node, never created, that a [drivers.Fencer] asks about:
// what is asked about a path that ends in it is [drivers.OpFence].
const FencePath = "/.stampede-fence"

// ErrReplyLost is what a Tap's Read returns when it dropped a reply on demand.
var ErrReplyLost = errors.New("reply lost on demand")

// A Tap is the client's end of a connection to a ZooKeeper server that tells a
// [drivers.Probe] of every packet and passes the bytes on unchanged, whatever
// they are. Of one connection the probe is told one message at a time: a
// request before its last byte is sent, a reply or notification before the
// first of its bytes is handed to the reader, [drivers.Cut] once and last.
//
// It reads through a buffer of its own, so a client that reads the length and
// then the rest needs one system call for both; large packets pass without
// being buffered whole. In steady state it allocates nothing.
type Tap struct {
	net.Conn
	probe drivers.Probe
	lose  func(drivers.Message) bool

	in inbound // belongs to the reader

	mu      sync.Mutex // guards what follows, and is held while the probe is told
	out     outbound
	pending ring
	cut     bool
	session ConnectResponse
}

// NewTap puts a tap on a connection that has not been used yet. If lose is set
// it is asked about every reply, which waits for the answer: if it says true
// the reply is dropped, the probe is told of the cut instead, the connection is
// closed and Read returns ErrReplyLost.
func NewTap(conn net.Conn, probe drivers.Probe, lose func(drivers.Message) bool) *Tap {
	return &Tap{Conn: conn, probe: probe, lose: lose, in: inbound{buf: make([]byte, inboundSize)}}
}

// Session is how the server answered when the session was opened or taken up
// again; zero before that.
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

// Write tells of the requests in p and sends it.
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

// Read hands on bytes of the packet which was told last and, when that is
// through, tells of the next.
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

// next waits for the beginning of the next packet and tells of it. Packets
// that fit the buffer are waited for whole: servers send them so.
func (t *Tap) next() error {
	if err := t.in.err; err != nil {
		return err
	}
	if err := t.fill(4); err != nil || t.in.err != nil {
		return err
	}
	size := int(int32(binary.BigEndian.Uint32(t.in.buf[t.in.start:])))
	if size < 0 {
		t.in.left = math.MaxInt // no packets from here on: pass whatever it is
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

// fill reads until n bytes are buffered. A connection that ends before that is
// no error as long as there are bytes to hand on: of what they began, nobody is
// told.
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
			return err // of a time-out only the reader is told: it may go on
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

// ended tells of the cut, once.
func (t *Tap) ended() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tell(drivers.Message{Kind: drivers.Cut})
	t.cut = true
}

// tell must be called with the lock held.
func (t *Tap) tell(m drivers.Message) {
	if !t.cut {
		t.probe.Message(m)
	}
}

const inboundSize = 4 << 10

// inbound is what was received and not yet handed on: buf[start:end].
type inbound struct {
	buf        []byte
	start, end int
	left       int   // bytes to hand on before the next packet begins
	err        error // how the connection ended
	opened     bool  // the packet that opens the session has passed
}

func (in *inbound) buffered() int { return in.end - in.start }

// packet is what there is of the payload of the packet that begins here and
// takes total bytes.
func (in *inbound) packet(total int) []byte {
	return in.buf[in.start+4 : min(in.end, in.start+total)]
}

// room makes room for n bytes in all.
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
