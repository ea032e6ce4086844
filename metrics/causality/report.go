package causality

import (
	"cmp"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/metrics"
)

// Events are causes with all that followed over all paths, and what sessions asked for without a cause.
type Events struct {
	Count            int64 `json:"count"`
	Notifications    int64 `json:"notifications"`     // of all events
	Requests         int64 `json:"requests"`          // of all events
	NotificationsP50 int64 `json:"notifications_p50"` // of an event
	NotificationsMax int64 `json:"notifications_max"`
	RequestsP50      int64 `json:"requests_p50"` // of an event, with the one that began it
	RequestsMax      int64 `json:"requests_max"`
	// AtRest are the requests that belong to no event, and AtRestPerS those in a second of the whole
	// observation.
	AtRest     int64   `json:"requests_at_rest"`
	AtRestPerS float64 `json:"requests_at_rest_per_s"`
	// Largest has the largest event of each cause, by notifications and requests together, at most ten.
	Largest []Event `json:"largest"`
}

// An Event is one change, or the end of a session, with all that followed until all sessions were at
// rest.
type Event struct {
	At time.Time `json:"at"` // of the first notification
	// Op is the operation that began it; "close" is the end of a session by its client, "expire" that by the
	// service, and "" a change that another process made.
	Op    string   `json:"operation"`
	Paths []string `json:"paths"` // patterns of the paths that it changed
	Times int64    `json:"times"` // events of this cause; the following is of the largest

	Changes       int64         `json:"changes"` // that caused notifications, with that which began it
	Notifications int64         `json:"notifications"`
	Woke          int64         `json:"woke"`     // sessions
	Requests      int64         `json:"requests"` // of the sessions that it woke, and the one that began it
	Reads         int64         `json:"reads"`
	Writes        int64         `json:"writes"`
	FailedWrites  int64         `json:"failed_writes"`
	Lasted        time.Duration `json:"lasted_ns"` // from the first notification to the last reply
	// Several says that the event is more than one change, or woke sessions at more than one path pattern.
	Several bool `json:"several"`
}

// describe returns the event without Times.
func (e *Trace) describe() Event {
	return Event{
		At: e.begun.At, Op: e.begun.Op, Paths: e.begun.Paths, Changes: e.changes, Notifications: e.notifications,
		Woke: int64(len(e.woken)), Requests: e.requests, Reads: e.reads, Writes: e.writes, FailedWrites: e.failed,
		Lasted: max(e.rest.Sub(e.begun.At), 0), Several: e.several || e.changes > 1,
	}
}

// compare puts the event that cost most first, and of equal ones the earliest.
func compare(x, y Event) int {
	return cmp.Or(cmp.Compare(y.Notifications+y.Requests, x.Notifications+x.Requests), x.At.Compare(y.At),
		cmp.Compare(x.Op, y.Op), slices.Compare(x.Paths, y.Paths))
}

// sum returns the sum of all values.
func sum(t metrics.Tally) (n int64) {
	for value, times := range t {
		n += value * times
	}
	return n
}

// maxListed is how many events a report lists.
const maxListed = 10

// Report describes the events that have ended, in an observation that has lasted so long.
func (t *Tracer) Report(lasted time.Duration) Events {
	r := Events{
		Count: t.requests.Count(), Notifications: sum(t.notifications), Requests: sum(t.requests),
		NotificationsP50: t.notifications.Quantile(50), NotificationsMax: t.notifications.Max(),
		RequestsP50: t.requests.Quantile(50), RequestsMax: t.requests.Max(), AtRest: t.atRest.requests,
		Largest: []Event{},
	}
	if s := lasted.Seconds(); s > 0 {
		r.AtRestPerS = float64(r.AtRest) / s
	}
	for _, e := range t.largest {
		r.Largest = append(r.Largest, *e)
	}
	slices.SortFunc(r.Largest, compare)
	r.Largest = r.Largest[:min(len(r.Largest), maxListed)]
	return r
}
