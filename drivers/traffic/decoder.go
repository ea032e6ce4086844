package traffic

import (
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// A Decoder decodes the bytes of one connection for a [Tap]. Its methods are called from one
// goroutine, with pieces of any size, a request before its reply. It keeps nothing of a piece.
type Decoder interface {
	FromClient(at time.Time, p []byte)
	FromServer(at time.Time, p []byte)
	// Lost says how many bytes of a direction are missing before its next piece, which begins
	// with a packet if the protocol has a [Framer].
	Lost(at time.Time, fromClient bool, bytes int64)
	// End is the last call: the connection has ended.
	End(at time.Time)
}

// A Framer finds where packets begin in one direction of a connection, so that decoding can
// resume after bytes were lost elsewhere.
type Framer interface {
	// Advance takes the next bytes and returns the offset of the first packet that begins in
	// them, or -1 if none does.
	Advance(p []byte) int
}

// A Protocol is what a decoder needs to know of connections to a service.
type Protocol struct {
	Name   string // "zookeeper"
	Decode func(t Tap, joined bool) Decoder
	Framer func() Framer // nil if decoding cannot resume after a loss
	// Whole reports whether a piece consists of whole packets, by what their headers say. Decoding
	// begins with such a piece where it is not known where a packet begins: in the middle of a
	// connection, and after a loss in the network. It is nil if there are no such pieces.
	Whole func(fromClient bool, p []byte) bool
}

// ZooKeeper is ZooKeeper's protocol.
func ZooKeeper() Protocol {
	return Protocol{
		Name:   "zookeeper",
		Decode: func(t Tap, joined bool) Decoder { return newZooKeeper(t, joined) },
		Framer: func() Framer { return new(wire.Framer) },
		Whole:  wire.WholePackets,
	}
}

// zookeeper is the Decoder of ZooKeeper's protocol.
type zookeeper struct {
	tap      Tap
	dialogue *wire.Dialogue
	at       time.Time
}

func newZooKeeper(t Tap, joined bool) *zookeeper {
	z := &zookeeper{tap: t}
	z.dialogue = wire.NewDialogue(z, joined)
	return z
}

func (z *zookeeper) FromClient(at time.Time, p []byte) {
	z.at = at
	z.dialogue.FromClient(p)
	if n := z.dialogue.Refused(); n > 0 {
		z.tap.Gap(at, n)
	}
}

func (z *zookeeper) FromServer(at time.Time, p []byte) {
	z.at = at
	z.dialogue.FromServer(p)
}

func (z *zookeeper) Lost(at time.Time, fromClient bool, bytes int64) {
	z.dialogue.Lost(fromClient)
	z.tap.Gap(at, bytes)
}

func (z *zookeeper) End(at time.Time) { z.tap.Close(at) }

// Message is the Dialogue's probe.
func (z *zookeeper) Message(m drivers.Message) {
	if m.Kind == drivers.Reply && m.Op == drivers.OpOpen && m.Err == nil {
		s := z.dialogue.Session()
		z.tap.Session(z.at, Session{
			ID:      s.SessionID,
			Timeout: time.Duration(s.Timeout) * time.Millisecond,
			Resumed: z.dialogue.Resumed(),
		})
	}
	z.tap.Message(z.at, m)
}
