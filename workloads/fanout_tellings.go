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

// tellings are the writes of one node on their way to those who watch it. Writes
// are numbered from 1 by the version that each makes, so that whoever knows the
// version that a watch was armed on knows of which write it tells.
//
// Nobody sees an older version than before or is told of a write that was not
// made, and in the end everybody has been told of the last, or has read it. A write
// is made from just before it is asked for, so that what is told too early really
// was.
type tellings struct {
	first, median, last, each *metrics.Latency // from the write's issue
	times                     *fanoutTimes     // from its acknowledgement

	moved chan struct{} // has an element when what the writer waits for may be so
	over  chan struct{} // closed when there is nothing more to be told of, and all have read again

	mu       sync.Mutex
	ears     []*Ear // by client, nil before it has joined
	hear     int    // how many of them listen
	rearming int    // how many of them are about to watch again
	made     int64
	open     []*telling // those of which somebody may still be told, in their order
	ending   bool       // no more are made
	rounds   int64      // told to all since somebody asked
	safety   metrics.Safety
}

// A telling is one write and who was told of it.
type telling struct {
	number             int64
	due, issued, acked time.Time
	ticket             *pace.Ticket    // with what it has an arrival; nil in a closed loop
	told               []time.Duration // after issued, by notification
	missed             int             // who never will be
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

// await waits until something holds, or the channel is closed, and returns true; or
// false when the context ends. Only the writer does.
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

// mostOpen bounds how many notifications may be outstanding before the writer
// waits: what is kept of each is eight bytes.
const mostOpen = 1 << 20

// What the writer may wait for: everybody to listen and not too much to be on its
// way; and all to have been told and to watch again.
func (t *tellings) ready() bool {
	return t.hear == len(t.ears) && len(t.open)*len(t.ears) < mostOpen
}

func (t *tellings) all() bool { return len(t.open) == 0 && t.rearming == 0 }

// issue notes that the next write is about to be made.
func (t *tellings) issue(due time.Time, ticket *pace.Ticket) *telling {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.made++
	u := &telling{number: t.made, due: due, issued: time.Now(), ticket: ticket, told: make([]time.Duration, 0, len(t.ears))}
	t.open = append(t.open, u)
	return u
}

// unanswered is the write that was issued and never acknowledged, nil if there is
// none.
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

// finish notes that no more writes are made.
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

// ended is how many writes all have been told of since the last call.
func (t *tellings) ended() (rounds int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	rounds, t.rounds = t.rounds, 0
	return rounds
}

// write returns one that somebody may still be told of, or nil.
func (t *tellings) write(number int64) *telling {
	if len(t.open) == 0 || number < t.open[0].number || number > t.made {
		return nil
	}
	return t.open[number-t.open[0].number]
}

// settle does away with the writes that are over.
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

// over tells whether all know of the write, the writer included.
func (u *telling) over(watchers int) bool {
	return !u.acked.IsZero() && len(u.told)+u.missed >= watchers
}

// time records when those were told who were.
func (t *tellings) time(u *telling) {
	slices.Sort(u.told) // that is about their order
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

// after is how long after its issue, and after it was due, something was.
func (u *telling) after(issued time.Duration) (service, response time.Duration) {
	return issued, issued + u.issued.Sub(u.due)
}

// verdict holds it against them if somebody was never told of a write.
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
