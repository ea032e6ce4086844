package native

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/drivers/native/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// stats are the server's counters since the last reset.
type stats struct {
	received int64 // packets
	sent     int64 // packets
	reads    int64 // requests that take no zxid, including pings
	writes   int64 // requests that take a zxid, including failed ones
	latency  tally // of batches, in milliseconds

	created  tally // watches fired per event, by the type of event
	deleted  tally
	changed  tally
	children tally
}

// Stats are a server's current state, and its counters since the start or the last "srst".
type Stats struct {
	Connections, Sessions             int64
	Nodes, Ephemerals, Watches, Bytes int64 // Bytes: total length of paths and data
	PacketsReceived, PacketsSent      int64
	Reads, Writes                     int64 // requests; heartbeats are reads, failed writes are writes
	Notifications                     int64 // fired watches
}

// Stats returns the current statistics. It is safe for concurrent use and waits for the batch in
// progress.
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

// mean returns the average in ZooKeeper's format: at least one and at most four decimals.
func (t *tally) mean() string {
	mean := float64(t.sum) / float64(max(t.count, 1))
	text := strconv.FormatFloat(math.Round(mean*1e4)/1e4, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

func (s *stats) took(d time.Duration) { s.latency.add(d.Milliseconds()) }

// fired counts as ZooKeeper does: once per event and table with watches. A session that watches a
// deleted node in both tables counts twice and gets one notification.
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

// traffic holds the counters of one connection.
type traffic struct {
	opened   time.Time
	received int64              // packets
	sent     int64              // packets
	last     wire.RequestHeader // the last request, if any
	zxid     int64              // the server's zxid after it
	answered time.Time          // when the last batch was answered
	latency  tally              // of batches, in milliseconds
	lag      int64              // the last batch's latency
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

// reset clears everything but the time of the connection.
func (t *traffic) reset() { *t = traffic{opened: t.opened} }
