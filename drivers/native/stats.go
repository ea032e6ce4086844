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
