package native

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/drivers/native/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// stats are what the server counts until they are reset.
type stats struct {
	received int64 // packets
	sent     int64 // packets
	reads    int64 // requests that take no zxid, pings included
	writes   int64 // requests that take one, failed ones included
	latency  tally // of batches, in milliseconds

	created  tally // of watches that one event fired, by the kind of event
	deleted  tally
	changed  tally
	children tally
}

// Stats are what a server holds, and what it has done since it began or somebody
// had it forget that by the word "srst".
type Stats struct {
	Connections, Sessions             int64
	Nodes, Ephemerals, Watches, Bytes int64 // of paths and data
	PacketsReceived, PacketsSent      int64
	Reads, Writes                     int64 // requests; heartbeats are reads, failed writes are writes
	Notifications                     int64 // watches that fired
}

// Stats may be asked for at any time. It waits for what is being applied.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	size, st := s.tree.Size(), &s.stats
	return Stats{
		Connections: int64(len(s.conns)), Sessions: int64(size.Sessions),
		Nodes: int64(s.nodeCount()), Ephemerals: int64(size.Ephemerals), Watches: int64(s.watches.Len()), Bytes: size.Bytes,
		PacketsReceived: st.received, PacketsSent: st.sent, Reads: st.reads, Writes: st.writes,
		Notifications: st.created.sum + st.deleted.sum + st.changed.sum + st.children.sum,
	}
}

// A tally sums up numbers.
type tally struct{ count, sum, min, max int64 }

func (t *tally) add(n int64) {
	if t.count == 0 || n < t.min {
		t.min = n
	}
	t.max = max(t.max, n)
	t.count++
	t.sum += n
}

// mean is the average in ZooKeeper's spelling: up to four decimals, at least one.
func (t *tally) mean() string {
	mean := float64(t.sum) / float64(max(t.count, 1))
	text := strconv.FormatFloat(math.Round(mean*1e4)/1e4, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

func (s *stats) took(d time.Duration) { s.latency.add(d.Milliseconds()) }

// fired counts as ZooKeeper does: per event and table that had watches; a
// session that a deletion finds in both tables counts twice and is told once.
func (s *stats) fired(event int32, f tree.Fired) {
	t := s.of(event)
	for _, watches := range f {
		if watches > 0 {
			t.add(int64(watches))
		}
	}
}

func (s *stats) of(event int32) *tally {
	switch event {
	case wire.EventCreated:
		return &s.created
	case wire.EventDeleted:
		return &s.deleted
	case wire.EventDataChanged:
		return &s.changed
	default:
		return &s.children
	}
}

// traffic is what passed over one connection.
type traffic struct {
	opened   time.Time
	received int64              // packets
	sent     int64              // packets
	last     wire.RequestHeader // the last request, if there was any
	zxid     int64              // of the server after it
	answered time.Time          // when, in a batch
	latency  tally              // of batches, in milliseconds
	lag      int64              // the last of these
}

// asked counts a request.
func (t *traffic) asked(h wire.RequestHeader) {
	t.received++
	t.last = h
}

// took counts a batch.
func (t *traffic) took(began time.Time, d time.Duration) {
	t.answered, t.lag = began.Add(d), d.Milliseconds()
	t.latency.add(t.lag)
}

// reset forgets all but who it is.
func (t *traffic) reset() { *t = traffic{opened: t.opened} }
