package traffic

import (
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire/captured"
)

// A tally counts what a tap gets.
type tally struct {
	messages int
	gap      int64 // bytes lost
	broken   int64 // other bytes that were not decoded
	closed   bool
}

func (c *tally) Gap(_ time.Time, bytes int64, cause Cause) {
	if cause == Missing {
		c.gap += bytes
	} else {
		c.broken += bytes
	}
}

func (c *tally) Session(time.Time, Session)         {}
func (c *tally) Message(time.Time, drivers.Message) { c.messages++ }
func (c *tally) Members(time.Time, []string)        {}
func (t *tally) Lease(time.Time, int64)             {}
func (t *tally) Owner(Process)                      {}
func (c *tally) Close(time.Time)                    { c.closed = true }

// FuzzZooKeeper gives arbitrary bytes of both directions to the decoder: it does not panic, and finds
// the same messages whatever the size of the pieces. Bytes may be lost between two parts of the replies.
func FuzzZooKeeper(f *testing.F) {
	packets, err := captured.Packets()
	if err != nil {
		f.Fatal(err)
	}
	said := map[string]*[2][]byte{}
	for _, p := range packets {
		if said[p.Client] == nil {
			said[p.Client] = new([2][]byte)
		}
		direction := 1
		if p.Request {
			direction = 0
		}
		said[p.Client][direction] = append(said[p.Client][direction], p.Framed()...)
	}
	for _, s := range said {
		f.Add(s[0], s[1], uint16(17), uint16(0), false)
		f.Add(s[0], s[1], uint16(0), uint16(100), true)
	}
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 1}, []byte{0x80, 0, 0, 0, 1}, uint16(0), uint16(1), true)
	f.Fuzz(func(t *testing.T, requests, replies []byte, size, lost uint16, joined bool) {
		cut := min(int(lost), len(replies))
		decode := func(size int) tally {
			var c tally
			d := ZooKeeper().Open(&c, joined)
			inPieces(requests, size, func(p []byte) { d.FromClient(time.Time{}, p) })
			inPieces(replies[:cut], size, func(p []byte) { d.FromServer(time.Time{}, p) })
			if lost > 0 {
				d.Lost(time.Time{}, false, int64(lost), Missing)
			}
			inPieces(replies[cut:], size, func(p []byte) { d.FromServer(time.Time{}, p) })
			d.End(time.Time{})
			return c
		}
		got, want := decode(int(size)+1), decode(max(len(requests), len(replies), 1))
		if got != want || !want.closed || want.gap < int64(lost) {
			t.Errorf("in pieces of %d bytes: %+v; in one: %+v; want the same, closed, with a gap of %d or more",
				int(size)+1, got, want, lost)
		}
	})
}

func inPieces(all []byte, size int, take func([]byte)) {
	for len(all) > 0 {
		n := min(size, len(all))
		take(all[:n])
		all = all[n:]
	}
}
