package workloads

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads/pace"
)

// A Watching keeps an ear notified of the changes of a node, with the watches of one session. It
// returns when the context ends or, with ErrSessionLost, when the session does.
type Watching func(ctx context.Context, c drivers.Conn, node string, e *Ear) error

// Fanouts returns the workload constructor for a form of fan-out. All clients watch one node, each
// with its own session, and a writer that is not a client sets it. In a closed loop the writer
// sets the node when all watchers have been notified of the last write and watch again, and it has
// thought. In an open loop it sets the node whenever an arrival is due, once the write before is
// acknowledged. A round is one write of which all watchers have been notified.
func Fanouts(watch Watching) func(Settings) Workload {
	return func(s Settings) Workload {
		return &fanoutWorkload{
			think: s.think(), updates: s.updates(), watch: watch, write: s.latency("write"), tellings: newTellings(s),
			quiet: semaphore.NewWeighted(theWriter),
		}
	}
}

// theWriter is the capacity of the semaphore quiet. The writer acquires all of it, a watcher
// acquires 1.
const theWriter = math.MaxInt64

type fanoutWorkload struct {
	think    time.Duration
	updates  int64 // of a settled run
	watch    Watching
	node     string
	clients  int
	write    *metrics.Latency // until the writer receives the acknowledgement
	tellings *tellings
	// quiet is shared by the watchers that find out with which write their notifications begin.
	// The writer holds it alone while a write is in progress.
	quiet *semaphore.Weighted
}

func (w *fanoutWorkload) Setup(ctx context.Context, c drivers.Conn, base string, clients int) error {
	w.node, w.clients = base+"/node", clients
	w.tellings.seat(clients)
	return makeNode(ctx, c, w.node, update(0), 0)
}

// Leads returns true: the leader writes.
func (w *fanoutWorkload) Leads() bool { return true }

func (w *fanoutWorkload) Together() bool { return false }

func (w *fanoutWorkload) Join(s *Seat) (Client, error) {
	if s.Index == w.clients {
		return &fanoutWriter{w, s}, nil
	}
	s.cycle = nil // a watcher only listens
	return &fanoutWatcher{w, s, w.tellings.join(s, w.quiet)}, nil
}

func (w *fanoutWorkload) Begin() {
	w.write.Reset()
	w.tellings.times.reset()
	for _, l := range w.tellings.phases() {
		l.Reset()
	}
}

func (w *fanoutWorkload) Lap() metrics.Lap { return w.write.Lap() }

func (w *fanoutWorkload) End(r *metrics.Record) {
	r.Phases = append([]metrics.Phase{w.write.Phase()}, phases(w.tellings.phases())...)
	r.Fanout = w.tellings.times.sum(w.clients)
	r.Rounds = r.Fanout.Writes
}

func (w *fanoutWorkload) Verdict() metrics.Safety { return w.tellings.verdict() }

// Settle lets all clients begin to watch, one at a time, and then sets the node.
func (w *fanoutWorkload) Settle(ctx context.Context, st *Stage) error {
	for i, seat := range st.Seats[:w.clients] {
		c := &fanoutWatcher{w, seat, w.tellings.join(seat, w.quiet)}
		st.Do(ctx, i, "watches", "", c.follow)
		if err := st.Rest(ctx); err != nil {
			return err
		}
	}
	writer := &fanoutWriter{w, st.Seats[w.clients]}
	for range w.updates {
		st.Do(ctx, w.clients, "sets the node", "", func(ctx context.Context) error { return writer.set(ctx, time.Now(), nil) })
		if err := st.Rest(ctx); err != nil {
			return err
		}
	}
	return nil
}

// A fanoutWatcher is one client. It listens for as long as there may be notifications.
type fanoutWatcher struct {
	*fanoutWorkload
	seat *Seat
	ear  *Ear
}

func (c *fanoutWatcher) Turn(ctx context.Context) (int64, error) {
	following, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-c.tellings.over:
			stop()
		case <-following.Done():
		}
	}()
	err := c.follow(following)
	if c.tellings.isOver() {
		return 0, nil
	}
	return 0, err
}

// Finish continues to listen with a new session if one was lost.
func (c *fanoutWatcher) Finish(ctx context.Context) (int64, error) {
	if c.tellings.isOver() {
		return 0, nil
	}
	return c.Turn(ctx)
}

func (c *fanoutWatcher) follow(ctx context.Context) error {
	if err := c.watch(ctx, c.seat.Conn, c.node, c.ear); err != nil {
		return fmt.Errorf("watch %s: %w", c.node, err)
	}
	return nil
}

// A fanoutWriter is the client that sets the node.
type fanoutWriter struct {
	*fanoutWorkload
	seat *Seat
}

// Turn makes one write. It repeats the last write if that was never acknowledged because the
// session was lost.
func (c *fanoutWriter) Turn(ctx context.Context) (int64, error) {
	if !c.tellings.await(ctx, c.tellings.ready, c.seat.Stopping) {
		return 0, context.Cause(ctx)
	}
	due, ticket, ok := c.arrive(ctx)
	if !ok {
		return c.tellings.ended(), nil
	}
	if err := c.set(ctx, due, ticket); err != nil {
		return 0, err
	}
	if ticket == nil && !c.tellings.await(ctx, c.tellings.all, nil) {
		return 0, context.Cause(ctx)
	}
	return c.tellings.ended(), nil
}

// arrive waits until a write is due.
func (c *fanoutWriter) arrive(ctx context.Context) (due time.Time, t *pace.Ticket, ok bool) {
	if u := c.tellings.unanswered(); u != nil {
		return u.due, u.ticket, true
	}
	select {
	case <-c.seat.Stopping: // until then, other clients may have kept it from writing
		return due, nil, false
	default:
	}
	if c.seat.pacer != nil {
		t = c.seat.pacer.Ticket()
		due, ok = c.seat.next(ctx, t)
		return due, t, ok
	}
	due, ok = c.seat.Arrive(ctx, c.think)
	return due, nil, ok
}

// set makes the write that was due. If the reply is lost it sends the write again. The write's
// number is the version that it creates, so it takes effect once.
func (c *fanoutWriter) set(ctx context.Context, due time.Time, ticket *pace.Ticket) error {
	if err := c.quiet.Acquire(ctx, theWriter); err != nil {
		return err
	}
	defer c.quiet.Release(theWriter)
	u := c.tellings.unanswered()
	repeated := u != nil
	if !repeated {
		u = c.tellings.issue(due, ticket)
	}
	for {
		_, err := c.seat.Conn.Set(ctx, c.node, update(u.number), int32(u.number-1))
		if errors.Is(err, drivers.ErrBadVersion) && repeated {
			err = nil
		}
		if repeated = true; errors.Is(err, drivers.ErrConnectionLoss) {
			continue
		}
		if err != nil {
			return fmt.Errorf("set %s: %w", c.node, err)
		}
		break
	}
	now := time.Now()
	c.write.Record(now.Sub(u.issued), now.Sub(u.due))
	c.tellings.acknowledge(u, now)
	return nil
}

// Finish makes sure that all watchers are notified of the last write, and lets them end.
func (c *fanoutWriter) Finish(ctx context.Context) (int64, error) {
	if u := c.tellings.unanswered(); u != nil {
		if err := c.set(ctx, u.due, u.ticket); err != nil {
			return 0, err
		}
	}
	c.tellings.finish()
	if !c.tellings.await(ctx, c.tellings.all, nil) {
		return 0, context.Cause(ctx)
	}
	return c.tellings.ended(), nil
}
