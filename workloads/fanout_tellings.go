package workloads

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads/pace"
)

// tellings tracks the writes of one node and the watchers' notifications of them. The number of a
// write is the version that it creates, from 1. So the version on which a watch was armed tells
// which write the watch reports.
//
// A watcher must not see an older version than before, nor a notification of a write that was not
// made. In the end every watcher must have been notified of the last write, or have read it. A
// write counts as made from just before its request is sent, so that a notification that is too
// early is a real finding.
type tellings struct {
	first, median, last, each *metrics.Latency // from the request of the write
	times                     *fanoutTimes     // from the acknowledgement of the write

	moved chan struct{} // has an element when the writer should check again what it waits for
	over  chan struct{} // closed when no more notifications can come and all watchers have read again

	mu       sync.Mutex
	ears     []*Ear // by client; nil before the client has joined
	hear     int    // how many ears listen
	rearming int    // how many ears are about to watch again
	made     int64
	open     []*telling // writes of which a watcher may still be notified, in order
	ending   bool       // no more writes are made
	rounds   int64      // writes that are over since the last call of ended
	safety   metrics.Safety
}

// A telling is one write and the notifications of it.
type telling struct {
	number             int64
	due, issued, acked time.Time
	ticket             *pace.Ticket    // holds the write's arrival; nil in a closed loop
	told               []time.Duration // time of each notification after issued
	missed             int             // number of watchers that will never be notified
}

func newTellings(s Settings) *tellings {
	return &tellings{
		first: s.latency("first"), median: s.latency("median"), last: s.latency("last"), each: s.latency("each"),
		times: cmp.Or(s.told, new(fanoutTimes)),
		moved: make(chan struct{}, 1), over: make(chan struct{}),
	}
}

func (t *tellings) phases() []*metrics.Latency {
	return []*metrics.Latency{t.first, t.median, t.last, t.each}
}

func (t *tellings) seat(watchers int) { t.ears = make([]*Ear, watchers) }

// await waits until the condition holds, or the channel is closed, and returns true. It returns
// false when the context ends. Only the writer calls it.
func (t *tellings) await(ctx context.Context, holds func() bool, or <-chan struct{}) bool {
	for {
		t.mu.Lock()
		so := holds()
		t.mu.Unlock()
		if so {
			return true
		}
		select {
		case <-t.moved:
		case <-or:
			return true
		case <-ctx.Done():
			return false
		}
	}
}

// mostOpen bounds the number of outstanding notifications before the writer waits. Each takes
// eight bytes.
const mostOpen = 1 << 20

// The conditions that the writer waits for. ready: all watchers listen, and not too many
// notifications are outstanding. all: all watchers have been notified and watch again.
func (t *tellings) ready() bool {
	return t.hear == len(t.ears) && len(t.open)*len(t.ears) < mostOpen
}

func (t *tellings) all() bool { return len(t.open) == 0 && t.rearming == 0 }

// issue records that the next write is about to be made.
func (t *tellings) issue(due time.Time, ticket *pace.Ticket) *telling {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.made++
	u := &telling{number: t.made, due: due, issued: time.Now(), ticket: ticket, told: make([]time.Duration, 0, len(t.ears))}
	t.open = append(t.open, u)
	return u
}

// unanswered returns the write that was issued and is not acknowledged, nil if there is none.
func (t *tellings) unanswered() *telling {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.open) == 0 {
		return nil
	}
	if u := t.open[len(t.open)-1]; u.acked.IsZero() {
		return u
	}
	return nil
}

func (t *tellings) acknowledge(u *telling, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	u.acked = at
	t.settle()
}

// finish records that no more writes are made.
func (t *tellings) finish() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ending = true
	t.settle()
}

func (t *tellings) isOver() bool {
	select {
	case <-t.over:
		return true
	default:
		return false
	}
}

// ended returns how many writes have become over since the last call.
func (t *tellings) ended() (rounds int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	rounds, t.rounds = t.rounds, 0
	return rounds
}

// write returns a write of which a watcher may still be notified, or nil.
func (t *tellings) write(number int64) *telling {
	if len(t.open) == 0 || number < t.open[0].number || number > t.made {
		return nil
	}
	return t.open[number-t.open[0].number]
}

// settle removes the writes that are over.
func (t *tellings) settle() {
	for len(t.open) > 0 && t.open[0].over(len(t.ears)) {
		u := t.open[0]
		t.open[0], t.open = nil, t.open[1:]
		t.time(u)
		t.rounds++
		if u.ticket != nil {
			u.ticket.Finish()
		}
	}
	if t.ending && t.all() {
		t.ending = false
		close(t.over)
	}
	t.move()
}

func (t *tellings) move() {
	select {
	case t.moved <- struct{}{}:
	default:
	}
}

// over reports whether the write is acknowledged and every watcher has been notified of it or
// never will be.
func (u *telling) over(watchers int) bool {
	return !u.acked.IsZero() && len(u.told)+u.missed >= watchers
}

// time records the times of the write's notifications.
func (t *tellings) time(u *telling) {
	slices.Sort(u.told) // they are almost in order
	if n := len(u.told); n > 0 {
		t.first.Record(u.after(u.told[0]))
		t.median.Record(u.after(u.told[(n-1)/2]))
		t.last.Record(u.after(u.told[n-1]))
	}
	for _, d := range u.told {
		t.each.Record(u.after(d))
	}
	t.times.add(u)
}

// after returns how long after the write's issue, and after it was due, a notification arrived.
// issued is the first of the two.
func (u *telling) after(issued time.Duration) (service, response time.Duration) {
	return issued, issued + u.issued.Sub(u.due)
}

// verdict returns all findings. A watcher that was never notified of an acknowledged write is one.
func (t *tellings) verdict() metrics.Safety {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.safety
	for _, e := range t.ears {
		if e == nil {
			continue
		}
		s.Checked++
		if u := t.write(e.seen + 1); u != nil && !u.acked.IsZero() {
			wrong(&s, e.disturbed(), fmt.Sprintf("client %d was never told of write %d", e.seat.Index+1, u.number))
		}
	}
	return s
}
