package load

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/exchange"
	"github.com/stampede-bench/stampede/workloads/openloop"
)

// fanoutTracker tracks the writes of one node and the watchers' notifications of them. The number of a
// write is the version that it creates, from 1. So the version on which a watch was armed determines
// which write the watch reports.
//
// A watcher must not see an older version than before, nor a notification of a write that was not
// made. In the end every watcher must have been notified of the last write, or have read it. A
// write counts as made from just before its request is sent, so that a notification that is too
// early is a real finding.
type fanoutTracker struct {
	written                   *metrics.Latency       // until the writer receives the acknowledgement
	first, median, last, each *metrics.Latency       // from the request of the write
	times                     *workloads.FanoutTimes // from the acknowledgement of the write

	exchange *exchange.Exchange // nil: this process has all clients
	recorded *check.Steps
	follows  sync.Once // see follow
	elsewhere

	changed chan struct{} // has an element when the writer should check again what it waits for
	over    chan struct{} // closed when no more notifications can come and all watchers have read again

	mu        sync.Mutex
	observers []*Observer // by client; nil before the client has joined
	listening int         // how many ears listen
	rearming  int         // how many ears are about to watch again
	made      int64
	open      []*fanoutWrite // writes of which a watcher may still be notified, in order
	ending    bool           // no more writes are made
	writer    *workloads.Slot
	safety    metrics.Safety
}

// A fanoutWrite is one write and the notifications of it.
type fanoutWrite struct {
	number                    int64
	due, issued, acknowledged time.Time
	ticket                    *openloop.Ticket // holds the write's arrival; nil in a closed loop
	notified                  []time.Duration  // time of each notification after issued
	missed                    int              // number of watchers that will never be notified
	heard                     bool             // all watchers of all processes were notified or never will be
}

// The phases from the request of a write until the first of its notifications has arrived, half of them, the
// last, and each.
const (
	firstPhase  = "first"
	medianPhase = "median"
	lastPhase   = "last"
	eachPhase   = "each"
)

func newFanoutTracker(s workloads.Settings) *fanoutTracker {
	return &fanoutTracker{
		written: s.Latency("write"), first: s.Latency(firstPhase), median: s.Latency(medianPhase),
		last: s.Latency(lastPhase), each: s.Latency(eachPhase),
		times: s.FanoutTimes(), exchange: s.Exchange(), recorded: s.Steps(),
		changed: make(chan struct{}, 1), over: make(chan struct{}),
	}
}

func (t *fanoutTracker) expect(watchers int) { t.observers = make([]*Observer, watchers) }

// await waits until the condition holds, or the channel is closed, and returns true. It returns
// false when the context ends. Only the writer calls it.
func (t *fanoutTracker) await(ctx context.Context, holds func() bool, or <-chan struct{}) bool {
	for {
		t.mu.Lock()
		so := holds()
		t.mu.Unlock()
		if so {
			return true
		}
		select {
		case <-t.changed:
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
func (t *fanoutTracker) ready() bool {
	listening := t.listening == len(t.observers) || t.allListen
	return listening && len(t.open)*len(t.observers) < mostOpen
}

func (t *fanoutTracker) all() bool { return len(t.open) == 0 && t.rearming == 0 && t.unarmed == 0 }

// issue records that the next write is about to be made.
func (t *fanoutTracker) issue(due time.Time, ticket *openloop.Ticket) *fanoutWrite {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.made++
	u := &fanoutWrite{number: t.made, due: due, issued: time.Now(), ticket: ticket, notified: make([]time.Duration, 0, len(t.observers))}
	t.open = append(t.open, u)
	t.recorded.RecordAt(u.issued, check.Step{Kind: check.Updating, Client: len(t.observers), Turn: u.number, Lag: u.issued.Sub(u.due)})
	return u
}

// unanswered returns the write that was issued and is not acknowledged, nil if there is none.
func (t *fanoutTracker) unanswered() *fanoutWrite {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.open) == 0 {
		return nil
	}
	if u := t.open[len(t.open)-1]; u.acknowledged.IsZero() {
		return u
	}
	return nil
}

func (t *fanoutTracker) acknowledge(u *fanoutWrite, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	u.acknowledged = at
	t.recorded.RecordAt(at, check.Step{Kind: check.Written, Client: len(t.observers), Turn: u.number})
	t.removeFinished()
}

// finish records that no more writes are made.
func (t *fanoutTracker) finish() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ending = true
	t.removeFinished()
}

func (t *fanoutTracker) isOver() bool {
	select {
	case <-t.over:
		return true
	default:
		return false
	}
}

// write returns the write of that number if a watcher may still be notified of it, and else nil.
func (t *fanoutTracker) write(number int64) *fanoutWrite {
	if len(t.open) == 0 || number < t.open[0].number || number > t.made {
		return nil
	}
	return t.open[number-t.open[0].number]
}

// removeFinished removes the writes that are over.
func (t *fanoutTracker) removeFinished() {
	for len(t.open) > 0 && t.open[0].isOver(len(t.observers)) {
		u := t.open[0]
		t.open[0], t.open = nil, t.open[1:]
		if t.writer.EndWork(u.ticket) {
			t.recordTimes(u)
		}
		if u.ticket != nil {
			u.ticket.Finish()
		}
	}
	if t.ending && t.all() {
		t.ending = false
		close(t.over)
		t.exchange.Announce(overTopic, 0)
	}
	t.signal()
}

func (t *fanoutTracker) signal() {
	select {
	case t.changed <- struct{}{}:
	default:
	}
}

// isOver reports whether the write is acknowledged and every watcher has been notified of it or
// never will be.
func (u *fanoutWrite) isOver(watchers int) bool {
	return !u.acknowledged.IsZero() && (len(u.notified)+u.missed >= watchers || u.heard)
}

// recordTimes records the times of the write and of its notifications. Those of notifications are judged by
// the steps if several processes have the watchers.
func (t *fanoutTracker) recordTimes(u *fanoutWrite) {
	t.written.Record(u.acknowledged.Sub(u.issued), u.acknowledged.Sub(u.due))
	if t.exchange != nil {
		return
	}
	slices.Sort(u.notified) // they are almost in order
	if n := len(u.notified); n > 0 {
		t.first.Record(u.latency(u.notified[0]))
		t.median.Record(u.latency(u.notified[(n-1)/2]))
		t.last.Record(u.latency(u.notified[n-1]))
	}
	for _, d := range u.notified {
		t.each.Record(u.latency(d))
	}
	t.times.Add(u.acknowledged.Sub(u.issued), u.notified, u.missed)
}

// latency returns how long after the write's issue, and after it was due, a notification arrived.
// issued is the first of the two.
func (u *fanoutWrite) latency(issued time.Duration) (service, response time.Duration) {
	return issued, issued + u.issued.Sub(u.due)
}

// verdict returns all findings. A watcher that was never notified of an acknowledged write is one.
func (t *fanoutTracker) verdict() metrics.Safety {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.safety
	for _, e := range t.observers {
		if e == nil {
			continue
		}
		s.Checked++
		if t.exchange != nil {
			t.recorded.Record(check.Step{Kind: check.Saw, Client: e.slot.Index, Turn: e.seen, Disturbed: e.disturbed()})
			continue
		}
		if u := t.write(e.seen + 1); u != nil && !u.acknowledged.IsZero() {
			check.AddFinding(&s, e.disturbed(), fmt.Sprintf("client %d was never notified of write %d", e.slot.Index+1, u.number))
		}
	}
	return s
}

// OneShot watches with watches that fire once: after each notification the client reads the node
// and arms a new watch. It is not notified of changes in between.
func OneShot(ctx context.Context, c drivers.Conn, node string, e *Observer) error {
	conn := drivers.Steady(c)
	for {
		var changed drivers.Wait
		e.Arm(true)
		_, stat, err := conn.Get(ctx, node, func(event drivers.Event) {
			if event.Type != drivers.Lost {
				e.Notified()
			}
			changed.Fire(event)
		})
		if err != nil {
			return err
		}
		e.Read(stat.Version)
		if _, err := changed.Await(ctx); err != nil {
			return err
		}
	}
}

// Persistent watches with one persistent watch. It reads the node only to find out with which
// change the notifications begin: once, and again whenever the watch was not armed for a while.
func Persistent(ctx context.Context, c drivers.Conn, node string, e *Observer) error {
	watcher, ok := c.(drivers.PersistentWatcher)
	if !ok {
		return fmt.Errorf("persistent watches by the session's client library: %w", drivers.ErrUnsupported)
	}
	conn := drivers.Persistent(watcher)
	var away drivers.Feed
	e.Arm(false)
	err := e.BetweenWrites(ctx, func() error {
		_, err := conn.WatchNode(ctx, node, func(event drivers.Event) {
			switch event.Type {
			case drivers.DataChanged:
				e.Notified()
			case drivers.Rearmed:
				e.Arm(false)
				away.Fire(event)
			case drivers.Lost:
				away.Fire(event)
			}
		})
		if err != nil {
			return err
		}
		return catchUp(ctx, conn, node, e)
	})
	for err == nil {
		if _, err = away.Await(ctx); err == nil {
			err = e.BetweenWrites(ctx, func() error { return catchUpAfterFlush(ctx, c, conn, node, e) })
		}
	}
	return err
}

func catchUp(ctx context.Context, c drivers.Conn, node string, e *Observer) error {
	_, stat, err := c.Get(ctx, node, nil)
	if err == nil {
		e.CaughtUp(stat.Version)
	}
	return err
}

// catchUpAfterFlush catches up after a flush of the session, when all notifications in transit have arrived.
// If the connection breaks during the flush, the watch is armed again and the next call catches
// up.
func catchUpAfterFlush(ctx context.Context, session, c drivers.Conn, node string, e *Observer) error {
	if f, ok := session.(drivers.Flusher); ok {
		if err := f.Flush(ctx); errors.Is(err, drivers.ErrConnectionLoss) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return catchUp(ctx, c, node, e)
}
