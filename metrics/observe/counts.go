package observe

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

// A pattern is what is counted of the paths of one pattern.
type pattern struct {
	name   string
	parent *pattern
	places int64 // paths that messages named; one may be counted again after a long time
	lined  bool  // a line is below a node of it
	ops    [drivers.OpFlush + 1]opCounts
	modes  [4]int64 // creates, by mode

	events       [drivers.Rearmed + 1]int64
	watchers     sessions
	standing     int64 // watches that are armed
	mostStanding int64

	changes    int64
	fanout     metrics.Tally // nil without a change
	settle     *hdrhistogram.Histogram
	woken      [standings][outcomes]int64 // notifications
	fresh      int64
	readsAfter int64
	lostAfter  int64

	polls     int64                   // reads that repeat an earlier one though nothing was notified
	unchanged int64                   // those of them that are known to have returned the same
	interval  *hdrhistogram.Histogram // between such a read and the one before, nil without one

	ahead     ahead
	keptLists int64 // of a queue: items taken without a new list

	deletedFirst, deletedLater, deletedByOthers int64
}

// ahead counts the watches on a child of a line by the place of the watched child, seen from the
// watching session's own child.
type ahead struct {
	next    int64 // right ahead, and not the lowest
	only    int64 // right ahead and the lowest
	lowest  int64 // the lowest, and not right ahead
	other   int64
	behind  int64
	own     int64
	none    int64 // the session has no child in the line
	missing int64 // the child was not there
}

// opCounts counts one operation.
type opCounts struct {
	requests, failed, watched int64
	lost                      int64 // creates of a node that another had created
	by                        sessions
	latency                   *hdrhistogram.Histogram
}

func newPattern(name string, parent *pattern) *pattern { return &pattern{name: name, parent: parent} }

func (o *opCounts) record(d time.Duration) {
	if o.latency == nil {
		o.latency = newDurations()
	}
	recordDuration(o.latency, d)
}

func (t *totals) record(op drivers.Op, d time.Duration) {
	if t.latency[op] == nil {
		t.latency[op] = newDurations()
	}
	recordDuration(t.latency[op], d)
}

// newDurations returns a histogram of microseconds. Two digits are enough for a table, and take
// a hundredth of the memory of metrics.NewDurations.
func newDurations() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, int64(time.Hour/time.Microsecond), digits)
}

func recordDuration(h *hdrhistogram.Histogram, d time.Duration) {
	_ = h.RecordValue(min(max(int64(d/time.Microsecond), 0), int64(time.Hour/time.Microsecond))) // in range
}

// changed adds one write that caused n notifications.
func (p *pattern) changed(n int64) {
	if p.fanout == nil {
		p.fanout, p.settle = metrics.Tally{}, newDurations()
	}
	p.changes++
	p.fanout[n]++
}

// polledAfter adds a read that returned the same as the one that long before.
func (p *pattern) polledAfter(d time.Duration) {
	if p.interval == nil {
		p.interval = newDurations()
	}
	recordDuration(p.interval, d)
}

// sessions counts different sessions, up to a bound.
type sessions map[int64]struct{}

// maxSessions is how many different sessions are distinguished for one pattern and operation.
const maxSessions = 4096

func (s *sessions) add(one *session) {
	if *s == nil {
		*s = sessions{}
	}
	if len(*s) < maxSessions {
		(*s)[one.serial] = struct{}{}
	}
}

// within reports whether all sessions are among others.
func (s sessions) within(others sessions) bool {
	for one := range s {
		if _, ok := others[one]; !ok {
			return false
		}
	}
	return true
}
