package traffic

import (
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
)

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
	z.report(at)
}

func (z *zookeeper) FromServer(at time.Time, p []byte) {
	z.at = at
	z.dialogue.FromServer(p)
	z.report(at)
	if servers := z.dialogue.Servers(); len(servers) > 0 {
		z.tap.Members(at, servers)
	}
}

// report reports what the dialogue has not decoded.
func (z *zookeeper) report(at time.Time) {
	refused, malformed := z.dialogue.Undecoded()
	z.gap(at, refused, BeyondLimit)
	z.gap(at, malformed, Malformed)
}

func (z *zookeeper) gap(at time.Time, bytes int64, cause Cause) {
	if bytes > 0 {
		z.tap.Gap(at, bytes, cause)
	}
}

// Lost counts what had come of a packet that the loss has cut in two with what is missing.
func (z *zookeeper) Lost(at time.Time, fromClient bool, bytes int64, cause Cause) {
	z.gap(at, bytes+z.dialogue.Lost(fromClient), cause)
}

func (z *zookeeper) End(at time.Time) {
	z.gap(at, z.dialogue.Lost(true)+z.dialogue.Lost(false), Unfinished)
	z.tap.Close(at)
}

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
