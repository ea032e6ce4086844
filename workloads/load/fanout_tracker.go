package load

import (
	"context"
	"errors"
	"fmt"
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
	written *metrics.Latency            // until the writer receives the acknowledgement
	phases  map[string]*metrics.Latency // from the request of the write
	times   *metrics.FanoutTimes        // from the acknowledgement of the write

	exchange *exchange.Exchange
	recorded *check.Steps
	judge    *fanoutJudge
	judged   map[int64]*judgedWrite // by number: those whose watchers the judge has heard of

	changed chan struct{} // has an element when the writer should check again what it waits for
	over    chan struct{} // closed when no more notifications can come and all watchers have read again

	mu        sync.Mutex
	observers []*Observer // by client; nil before the client has joined
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
}

// The topics by which the writer learns of the watchers, by write, and the watchers that the run is over.
const (
	listeningTopic = "listening" // a watcher listens; of no write
	heardTopic     = "heard"     // a watcher was notified, or never will be
	armedTopic     = "armed"     // it watches again
	overTopic      = "over"      // of no write
)

// The phases from the request of a write until the first of its notifications has arrived, half of them, the
// last, and each.
const (
	firstPhase  = "first"
	medianPhase = "median"
	lastPhase   = "last"
	eachPhase   = "each"
)

func newFanoutTracker(s workloads.Settings) *fanoutTracker {
	t := &fanoutTracker{
		written: s.Latency("write"), phases: map[string]*metrics.Latency{},
		times: s.FanoutTimes(), exchange: s.Exchange(), recorded: s.Steps(),
		changed: make(chan struct{}, 1), over: make(chan struct{}), judged: map[int64]*judgedWrite{},
	}
	for _, phase := range []string{firstPhase, medianPhase, lastPhase, eachPhase} {
		t.phases[phase] = s.Latency(phase)
	}
	return t
}

func (t *fanoutTracker) expect(watchers int) {
	t.observers = make([]*Observer, watchers)
	t.judge = newFanoutJudge(watchers, func(w *judgedWrite) { t.judged[w.number] = w })
	t.recorded.JudgeBy(t.judge.Take)
	t.exchange.OnLearn(func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.removeFinished()
		if t.told(overTopic, 0) > 0 && !t.isOver() {
			close(t.over)
		}
	})
}

// told returns how many clients of all processes have announced the topic of a write.
func (t *fanoutTracker) told(topic string, number int64) int {
	return int(t.exchange.Announced(topic, number))
}

// announce announces the topic of a write. What waits for all watchers goes on when the last has.
func (t *fanoutTracker) announce(topic string, number int64) {
	if t.exchange.AnnounceValue(topic, number, 0).Count >= int64(len(t.observers)) {
		t.removeFinished()
	}
}

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

// mostOpen bounds the number of outstanding notifications before the writer waits, and mostWrites that of the
// writes that they are of.
const (
	mostOpen   = 1 << 20
	mostWrites = exchange.KeptTurns / 2
)

// The conditions that the writer waits for. ready: all watchers listen, and not too many
// notifications are outstanding. all: all watchers have been notified and watch again.
func (t *fanoutTracker) ready() bool {
	few := len(t.open) < mostWrites && len(t.open)*len(t.observers) < mostOpen
	return few && t.told(listeningTopic, 0) >= len(t.observers)
}

func (t *fanoutTracker) all() bool {
	return len(t.open) == 0 && (t.made == 0 || t.told(armedTopic, t.made) >= len(t.observers))
}

// issue records that the next write is about to be made.
func (t *fanoutTracker) issue(due time.Time, ticket *openloop.Ticket) *fanoutWrite {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.made++
	u := &fanoutWrite{number: t.made, due: due, issued: time.Now(), ticket: ticket}
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
	if t.writer.InWindow(at) {
		t.times.FellBehind(len(t.open))
	}
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

// removeFinished removes the writes that are over.
func (t *fanoutTracker) removeFinished() {
	for len(t.open) > 0 && t.isHeard(t.open[0]) {
		u := t.open[0]
		t.open[0], t.open = nil, t.open[1:]
		counts := t.writer.EndWork(u.ticket)
		t.written.End(u.acknowledged.Sub(u.issued), u.acknowledged.Sub(u.due), counts)
		t.recordTimes(u.number, counts)
		delete(t.judged, u.number)
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

// isHeard reports whether the write is acknowledged and every watcher has been notified of it or
// never will be.
func (t *fanoutTracker) isHeard(u *fanoutWrite) bool {
	return !u.acknowledged.IsZero() && t.told(heardTopic, u.number) >= len(t.observers)
}

// recordTimes ends the notifications of a write, and records their times if they count, if the judge knows
// all of them.
func (t *fanoutTracker) recordTimes(number int64, counts bool) {
	w, times := t.judged[number], t.times
	if w == nil {
		return
	}
	if !counts {
		times = &metrics.FanoutTimes{}
	}
	w.measure(times, func(phase string, service, response time.Duration) {
		t.phases[phase].End(service, response, counts)
	})
}

// verdict returns all findings. A watcher that was never notified of an acknowledged write is one.
func (t *fanoutTracker) verdict() metrics.Safety {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.safety
	for _, e := range t.observers {
		if e != nil {
			s.Checked++
			t.recorded.Record(e.step(check.Saw))
		}
	}
	return t.judge.safety.Add(s, check.MaxDetails)
}

// OneShot watches with watches that fire once: after each notification the client reads the node
// and arms a new watch. It is not notified of changes in between.
func OneShot(ctx context.Context, c drivers.Conn, node string, e *Observer) error {
	conn := drivers.Steady(c)
	for {
		var changed drivers.Wait
		e.Arm(true)
		_, stat, err := conn.Get(ctx, node, func(event drivers.Event) {
			if event.Type == drivers.DataChanged { // the end of the node is no write
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
