package load

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/namespace"
	"github.com/stampede-bench/stampede/workloads/openloop"
	"github.com/stampede-bench/stampede/workloads/settled"
)

// A Watch keeps an ear notified of the changes of a node, with the watches of one session. It
// returns when the context ends or, with ErrSessionLost, when the session does.
type Watch func(ctx context.Context, c drivers.Conn, node string, e *Observer) error

// Fanouts returns the workload constructor for a form of fan-out. All clients watch one node, each
// with its own session, and a writer that is not a client sets it. In a closed loop the writer
// sets the node when all watchers have been notified of the last write and watch again, and it has
// thought. In an open loop it sets the node whenever an arrival is due, once the write before is
// acknowledged. A round is one write whose watchers have all been notified.
func Fanouts(watch Watch) workloads.Constructor {
	return func(s workloads.Settings) workloads.Workload {
		t := newFanoutTracker(s)
		return &fanoutWorkload{
			Timings: metrics.Timings{t.written,
				t.phases[firstPhase], t.phases[medianPhase], t.phases[lastPhase], t.phases[eachPhase]},
			think: s.ThinkTime(), updates: s.UpdateCount(), watch: watch, tracker: t,
			quiet: semaphore.NewWeighted(wholeCapacity),
		}
	}
}

// wholeCapacity is the capacity of the semaphore quiet. The writer acquires all of it, a watcher
// acquires 1.
const wholeCapacity = math.MaxInt64

type fanoutWorkload struct {
	metrics.Timings
	think   time.Duration
	updates int64 // of a settled run
	watch   Watch
	node    string
	clients int
	tracker *fanoutTracker
	// quiet is shared by the watchers that find out with which write their notifications begin.
	// The writer holds it alone while a write is in progress.
	quiet *semaphore.Weighted
}

func (w *fanoutWorkload) Attach(_ drivers.Conn, base string, clients int) {
	w.node, w.clients = base+"/node", clients
	w.tracker.expect(clients)
}

func (w *fanoutWorkload) Setup(ctx context.Context, c drivers.Conn) error {
	return namespace.CreateNode(ctx, c, w.node, check.UpdateData(0), 0)
}

// Leads returns true: the leader writes.
func (w *fanoutWorkload) Leads() bool { return true }

func (w *fanoutWorkload) Together() bool { return false }

func (w *fanoutWorkload) Join(s *workloads.Slot) (workloads.Client, error) {
	if s.Index == w.clients {
		w.tracker.mu.Lock()
		defer w.tracker.mu.Unlock()
		w.tracker.writer = s
		return &fanoutWriter{w, s}, nil
	}
	s.Untracked() // a watcher only listens
	return &fanoutWatcher{w, s, w.tracker.join(s, w.quiet)}, nil
}

func (w *fanoutWorkload) Fill(r *metrics.Record) {
	w.Timings.Fill(r)
	r.Fanout = w.tracker.times.Sum(w.clients)
	r.Rounds = r.Fanout.Writes
}

func (w *fanoutWorkload) Verdict() metrics.Safety { return w.tracker.verdict() }

// Settle lets all clients begin to watch, one at a time, and then sets the node.
func (w *fanoutWorkload) Settle(ctx context.Context, st *settled.Stepper) error {
	for i, slot := range st.Slots[:w.clients] {
		c := &fanoutWatcher{w, slot, w.tracker.join(slot, w.quiet)}
		if err := st.Do(ctx, i, "watches", "", c.follow); err != nil {
			return err
		}
	}
	writer := &fanoutWriter{w, st.Slots[w.clients]}
	w.tracker.writer = writer.slot
	for range w.updates {
		if err := st.Do(ctx, w.clients, "sets the node", "", func(ctx context.Context) error { return writer.set(ctx, time.Now(), nil) }); err != nil {
			return err
		}
	}
	return nil
}

// A fanoutWatcher is one client. It listens for as long as there may be notifications.
type fanoutWatcher struct {
	*fanoutWorkload
	slot     *workloads.Slot
	observer *Observer
}

func (c *fanoutWatcher) Turn(ctx context.Context) (int64, error) {
	following, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-c.tracker.over:
			stop()
		case <-following.Done():
		}
	}()
	err := c.follow(following)
	if c.tracker.isOver() {
		return 0, nil
	}
	return 0, err
}

// Finish continues to listen with a new session if one was lost.
func (c *fanoutWatcher) Finish(ctx context.Context) (int64, error) {
	if c.tracker.isOver() {
		return 0, nil
	}
	return c.Turn(ctx)
}

func (c *fanoutWatcher) follow(ctx context.Context) error {
	if err := c.watch(ctx, c.slot.Conn, c.node, c.observer); err != nil {
		return fmt.Errorf("watch %s: %w", c.node, err)
	}
	return nil
}

// A fanoutWriter is the client that sets the node.
type fanoutWriter struct {
	*fanoutWorkload
	slot *workloads.Slot
}

// Turn makes one write. It repeats the last write if that was never acknowledged because the
// session was lost.
func (c *fanoutWriter) Turn(ctx context.Context) (int64, error) {
	if !c.tracker.await(ctx, c.tracker.ready, c.slot.Stopping) {
		return 0, context.Cause(ctx)
	}
	due, ticket, ok := c.arrive(ctx)
	if !ok {
		return 0, nil
	}
	if err := c.set(ctx, due, ticket); err != nil {
		return 0, err
	}
	if ticket == nil && !c.tracker.await(ctx, c.tracker.all, nil) {
		return 0, context.Cause(ctx)
	}
	return 0, nil
}

// arrive waits until a write is due.
func (c *fanoutWriter) arrive(ctx context.Context) (due time.Time, t *openloop.Ticket, ok bool) {
	if u := c.tracker.unanswered(); u != nil {
		return u.due, u.ticket, true
	}
	select {
	case <-c.slot.Stopping: // until then, other clients may have kept it from writing
		return due, nil, false
	default:
	}
	if t = c.slot.NewArrival(); t != nil {
		due, ok = c.slot.AwaitArrival(ctx, t)
		return due, t, ok
	}
	due, ok = c.slot.Arrive(ctx, c.think)
	return due, nil, ok
}

// set makes the write that was due. If the reply is lost it sends the write again. The write's
// number is the version that it creates, so it takes effect once.
func (c *fanoutWriter) set(ctx context.Context, due time.Time, ticket *openloop.Ticket) error {
	if err := c.quiet.Acquire(ctx, wholeCapacity); err != nil {
		return err
	}
	defer c.quiet.Release(wholeCapacity)
	u := c.tracker.unanswered()
	repeated := u != nil
	if !repeated {
		u = c.tracker.issue(due, ticket)
	}
	err := drivers.Repeat(ctx, func() error {
		_, err := c.slot.Conn.Set(ctx, c.node, check.UpdateData(u.number), int32(u.number-1))
		if errors.Is(err, drivers.ErrBadVersion) && repeated {
			err = nil
		}
		repeated = true
		return err
	})
	if err != nil {
		return fmt.Errorf("set %s: %w", c.node, err)
	}
	now := time.Now()
	c.tracker.acknowledge(u, now)
	return nil
}

// Finish makes sure that all watchers are notified of the last write, and lets them end.
func (c *fanoutWriter) Finish(ctx context.Context) (int64, error) {
	if u := c.tracker.unanswered(); u != nil {
		if err := c.set(ctx, u.due, u.ticket); err != nil {
			return 0, err
		}
	}
	c.tracker.finish()
	if !c.tracker.await(ctx, c.tracker.all, nil) {
		return 0, context.Cause(ctx)
	}
	return 0, nil
}
