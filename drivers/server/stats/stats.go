package stats

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// Counters are the server's counters since the last reset.
type Counters struct {
	Received int64 // packets
	Sent     int64 // packets
	Reads    int64 // requests that take no zxid, including pings
	Writes   int64 // requests that take a zxid, including failed ones
	Latency  Tally // of batches, in milliseconds

	Created  Tally // watches fired per event, by the type of event
	Deleted  Tally
	Changed  Tally
	Children Tally
}

// A Tally sums up numbers.
type Tally struct{ Count, Sum, Min, Max int64 }

// Add counts a number.
func (t *Tally) Add(n int64) {
	if t.Count == 0 || n < t.Min {
		t.Min = n
	}
	t.Max = max(t.Max, n)
	t.Count++
	t.Sum += n
}

// Mean returns the average in ZooKeeper's format: at least one and at most four decimals.
func (t *Tally) Mean() string {
	mean := float64(t.Sum) / float64(max(t.Count, 1))
	text := strconv.FormatFloat(math.Round(mean*1e4)/1e4, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// Took counts the time that a batch took.
func (s *Counters) Took(d time.Duration) { s.Latency.Add(d.Milliseconds()) }

// Fired counts as ZooKeeper does: once per event and table with watches. A session that watches a
// deleted node in both tables counts twice and gets one notification.
func (s *Counters) Fired(event int32, f tree.Fired) {
	t := s.tally(event)
	for _, watches := range f {
		if watches > 0 {
			t.Add(int64(watches))
		}
	}
}

func (s *Counters) tally(event int32) *Tally {
	switch event {
	case wire.EventCreated:
		return &s.Created
	case wire.EventDeleted:
		return &s.Deleted
	case wire.EventDataChanged:
		return &s.Changed
	default:
		return &s.Children
	}
}

// Traffic holds the counters of one connection.
type Traffic struct {
	Opened   time.Time
	Received int64              // packets
	Sent     int64              // packets
	Last     wire.RequestHeader // the last request, if any
	Zxid     int64              // the server's zxid after it
	Answered time.Time          // when the last batch was answered
	Latency  Tally              // of batches, in milliseconds
	Lag      int64              // the last batch's latency
}

// Asked counts a request.
func (t *Traffic) Asked(h wire.RequestHeader) {
	t.Received++
	t.Last = h
}

// Took counts a batch.
func (t *Traffic) Took(began time.Time, d time.Duration) {
	t.Answered, t.Lag = began.Add(d), d.Milliseconds()
	t.Latency.Add(t.Lag)
}

// Reset clears everything but the time of the connection.
func (t *Traffic) Reset() { *t = Traffic{Opened: t.Opened} }
