package clock

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// patience is how long a Client waits for an answer. A later one would have too wide an interval.
const patience = time.Second

// A Client does exchanges with the coordinator in UDP packets. It does one at a time; its methods may be
// called from any goroutine.
type Client struct {
	key Key
	now func() Moment

	mu   sync.Mutex
	conn net.Conn
}

// Dial returns a client of the coordinator at the address, "host:port". The agent's clock is read by
// now, usually [Clock.Now].
func Dial(ctx context.Context, address string, key Key, now func() Moment) (*Client, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "udp", address)
	if err != nil {
		return nil, fmt.Errorf("connect to the coordinator's clock: %w", err)
	}
	return &Client{key: key, now: now, conn: conn}, nil
}

// Close closes the client.
func (c *Client) Close() error { return c.conn.Close() }

// Exchange does one exchange. It gives up after a second, or when the context ends. Packets that are no
// answer to it are ignored, such as a late answer to the exchange before.
func (c *Client) Exchange(ctx context.Context) (Exchange, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	x, err := c.exchange(ctx)
	if err != nil {
		if ctx.Err() != nil { // it says more than the read that was interrupted
			err = ctx.Err()
		}
		return Exchange{}, fmt.Errorf("exchange with the coordinator's clock: %w", err)
	}
	return x, nil
}

func (c *Client) exchange(ctx context.Context) (x Exchange, err error) {
	if err := c.conn.SetReadDeadline(time.Time{}); err != nil {
		return x, err
	}
	defer interrupt(ctx, c.conn)()
	nonce := newNonce()
	out := c.key.seal(frame{kind: request, nonce: nonce})
	x.Sent = c.now()
	if _, err := c.conn.Write(out); err != nil {
		return x, err
	}
	var in [packetSize + 1]byte // a longer packet is seen to be longer
	for {
		n, err := c.conn.Read(in[:])
		x.Returned = c.now()
		if err != nil {
			return x, err
		}
		if f, err := c.key.open(in[:n]); err == nil && f.kind == answer && f.nonce == nonce {
			x.Received, x.Answered = f.received, f.answered
			return x, nil
		}
	}
}

// interrupt ends reads from the connection when the context ends. The caller calls stop when it reads no
// more. After stop the connection's deadline does not change.
func interrupt(ctx context.Context, conn net.Conn) (stop func()) {
	done := make(chan struct{})
	unregister := context.AfterFunc(ctx, func() {
		defer close(done)
		_ = conn.SetReadDeadline(time.Now()) // it fails if the connection is closed, which ends reads too
	})
	return func() {
		if !unregister() {
			<-done
		}
	}
}

// newNonce returns a number that another machine cannot guess.
func newNonce() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return binary.BigEndian.Uint64(b[:])
}

// Serve answers the requests of agents until the connection is closed. The coordinator's clock is read by
// now, usually [Clock.CoordinatorNow]. Other packets are ignored. It keeps nothing of a request.
func Serve(conn net.PacketConn, key Key, now func() CoordinatorMoment) error {
	var in [packetSize + 1]byte
	for {
		n, from, err := conn.ReadFrom(in[:])
		received := now()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("receive requests for the coordinator's clock: %w", err)
		}
		f, err := key.open(in[:n])
		if err != nil || f.kind != request {
			continue
		}
		out := key.seal(frame{answer, f.nonce, received, now()})
		if _, err := conn.WriteTo(out, from); errors.Is(err, net.ErrClosed) {
			return nil
		} // an agent whose answer is lost asks again
	}
}

// A Key is the secret of one run, without which nobody can ask the coordinator for its time or answer in
// its place.
type Key [16]byte

// NewKey returns a random key.
func NewKey() (k Key) {
	_, _ = rand.Read(k[:]) // it never fails
	return k
}

const (
	sealSize   = 16
	packetSize = frameSize + sealSize
)

// seal returns the packet of a frame: the frame and, after it, the first bytes of its HMAC-SHA256.
func (k Key) seal(f frame) []byte {
	b := f.encode()
	return append(b[:], k.mac(b[:])...)
}

// open returns the frame of a packet that has been sealed with the key.
func (k Key) open(packet []byte) (frame, error) {
	if len(packet) != packetSize || !hmac.Equal(packet[frameSize:], k.mac(packet[:frameSize])) {
		return frame{}, errFrame
	}
	return decode(packet[:frameSize])
}

func (k Key) mac(b []byte) []byte {
	h := hmac.New(sha256.New, k[:])
	h.Write(b)
	return h.Sum(nil)[:sealSize]
}

// A frame is a request or its answer, in one packet. Both have the same size, so that a request with a
// forged address makes the coordinator send no more than it received.
//
//	bytes 0-3    "stcl"
//	byte  4      version, 1
//	byte  5      kind: 1 request, 2 answer
//	bytes 6-7    0
//	bytes 8-15   nonce of the request, in both
//	bytes 16-23  when the coordinator received the request, ns; 0 in a request
//	bytes 24-31  when the coordinator answered, ns; 0 in a request
//
// Integers are big-endian.
type frame struct {
	kind               kind
	nonce              uint64
	received, answered CoordinatorMoment
}

type kind byte

const (
	request kind = 1
	answer  kind = 2
)

const (
	frameSize = 32
	header    = "stcl\x01"
)

var errFrame = errors.New("not a frame of a clock exchange")

func (f frame) encode() [frameSize]byte {
	var b [frameSize]byte
	copy(b[:], header)
	b[5] = byte(f.kind)
	binary.BigEndian.PutUint64(b[8:], f.nonce)
	binary.BigEndian.PutUint64(b[16:], uint64(f.received.since))
	binary.BigEndian.PutUint64(b[24:], uint64(f.answered.since))
	return b
}

// decode accepts exactly what encode makes of a valid frame.
func decode(b []byte) (frame, error) {
	if len(b) != frameSize || string(b[:5]) != header || b[6] != 0 || b[7] != 0 {
		return frame{}, errFrame
	}
	f := frame{
		kind:     kind(b[5]),
		nonce:    binary.BigEndian.Uint64(b[8:]),
		received: CoordinatorMoment{time.Duration(binary.BigEndian.Uint64(b[16:]))},
		answered: CoordinatorMoment{time.Duration(binary.BigEndian.Uint64(b[24:]))},
	}
	switch {
	case f.kind == request && f.received.since == 0 && f.answered.since == 0:
		return f, nil
	case f.kind == answer && 0 <= f.received.since && f.received.since <= f.answered.since && f.answered.since <= longest:
		return f, nil
	}
	return frame{}, errFrame
}
