package workloads

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

// A Storm is something that happens to all sessions at once.
type Storm struct {
	// Brace makes a session ready for it, at the path of the round.
	Brace func(ctx context.Context, s *Seat, path string) error
	// Hit is what happens to one session. It returns when that can be used
	// again: not before it has been answered.
	Hit func(ctx context.Context, s *Seat, path string) error
	// Outcome says what is wrong with the round's path after the storm, as an
	// ordinary client sees it, or "".
	Outcome func(ctx context.Context, c drivers.Conn, path string) (wrong string, err error)
}

// Sessions makes the workload of a storm. In each round it hits all clients at
// once, and beside them an ordinary client, with a session of its own that
// nothing happens to, goes on with its work: for the hold before the storm, and
// while it lasts.
func Sessions(storm Storm) func(Settings) Workload {
	return func(s Settings) Workload {
		return &stormWorkload{
			hold: s.hold(), storm: storm,
			back: s.latency("back"), over: s.latency("over"),
			ordinary: s.latency("ordinary"), calm: s.latency("calm"),
		}
	}
}

type stormWorkload struct {
	hold    time.Duration
	storm   Storm
	clients int
	rounds  rounds[squall]

	back     *metrics.Latency // from the storm's beginning until a client is back
	over     *metrics.Latency // until all are
	ordinary *metrics.Latency // a set of the ordinary client while it lasts
	calm     *metrics.Latency // and before it

	made, omitted atomic.Int64 // writes of the ordinary client during storms, and those that it never came to make
}

// A squall is one round.
type squall struct {
	braced *gate  // clients come to it, then the ordinary client lets the storm begin
	begun  *gate  // it comes to it, then the storm has begun
	back   *gate  // clients come to it, then the storm is over
	wrong  string // what the storm left
}

func (w *stormWorkload) Setup(ctx context.Context, c drivers.Conn, base string, clients int) error {
	w.clients = clients
	w.rounds = rounds[squall]{admin: c, stem: base + "/storm-", seats: clients + 1, begin: w.begin, judge: judgeSquall}
	return w.rounds.first(ctx)
}

func (w *stormWorkload) begin(ctx context.Context, path string) (*squall, error) {
	q := &squall{braced: newGate(w.clients, ""), begun: newGate(1, ""), back: newGate(w.clients, "")}
	return q, makeNode(ctx, w.rounds.admin, path, nil, 0)
}

func judgeSquall(s *metrics.Safety, q *squall, _ func(*Seat) bool) {
	s.Checked++
	if q.wrong != "" {
		s.Violations++
		s.Details = append(s.Details, q.wrong)
	}
}

// Leads: the ordinary client.
func (w *stormWorkload) Leads() bool { return true }

func (w *stormWorkload) Together() bool { return true }

func (w *stormWorkload) Join(s *Seat) (Client, error) {
	if s.Index == w.clients {
		return &bystander{w, s}, nil
	}
	return &stormClient{w, s}, nil
}

func (w *stormWorkload) Begin() {
	for _, l := range w.phases() {
		l.Reset()
	}
	w.made.Store(0)
	w.omitted.Store(0)
}

func (w *stormWorkload) phases() []*metrics.Latency {
	return []*metrics.Latency{w.back, w.over, w.ordinary, w.calm}
}

func (w *stormWorkload) Lap() metrics.Lap { return w.back.Lap() }

func (w *stormWorkload) End(r *metrics.Record) {
	r.Phases = phases(w.phases())
	r.Rounds = r.Phases[1].Service.TotalCount()
	r.Storm = &metrics.Storm{Made: w.made.Load(), Omitted: w.omitted.Load()}
}

func (w *stormWorkload) Verdict() metrics.Safety { return w.rounds.verdict() }

// Settle does nothing: what a storm costs depends on when it comes.
func (w *stormWorkload) Settle(context.Context, *Stage) error {
	return errors.New("a storm cannot be counted at rest")
}

// A stormClient is hit in each round.
type stormClient struct {
	*stormWorkload
	seat *Seat
}

func (c *stormClient) Turn(ctx context.Context) (int64, error) {
	r, err := c.rounds.join(ctx, c.seat)
	if err != nil {
		return 0, err
	}
	if err := c.storm.Brace(ctx, c.seat, r.path); err != nil {
		return 0, fmt.Errorf("before the storm: %w", err)
	}
	r.share.braced.come(c.seat)
	if err := r.share.begun.wait(ctx); err != nil {
		return 0, err
	}
	if err := c.storm.Hit(ctx, c.seat, r.path); err != nil {
		return 0, fmt.Errorf("in the storm: %w", err)
	}
	now := time.Now()
	took, _ := r.share.begun.past(c.seat, now)
	c.back.Record(took, r.responded(now, took))
	r.share.back.come(c.seat)
	return c.rounds.finish(ctx, c.seat)
}

// A bystander goes on with its work, whatever happens to the others.
type bystander struct {
	*stormWorkload
	seat *Seat
}

func (b *bystander) Turn(ctx context.Context) (int64, error) {
	r, err := b.rounds.join(ctx, b.seat)
	if err != nil {
		return 0, err
	}
	q := r.share
	if err := q.braced.wait(ctx); err != nil {
		return 0, err
	}
	until := time.Now().Add(b.hold)
	if _, _, err := b.work(ctx, r.path, b.calm, func() bool { return time.Now().After(until) }); err != nil {
		return 0, err
	}
	q.begun.come(b.seat)
	made, omitted, err := b.work(ctx, r.path, b.ordinary, q.back.open)
	if err != nil {
		return 0, err
	}
	b.made.Add(made)
	b.omitted.Add(omitted)
	if err := q.back.wait(ctx); err != nil {
		return 0, err
	}
	now := time.Now()
	if q.wrong, err = b.storm.Outcome(ctx, b.seat.Conn, r.path); err != nil {
		return 0, err
	}
	ended, err := b.rounds.finish(ctx, b.seat)
	took, _ := q.begun.past(b.seat, now)
	b.over.Record(took, r.responded(now, took)) // in the window in which the round has ended
	return ended, err
}

// workEvery is how often the ordinary client has something to do.
const workEvery = time.Millisecond

// work sets the round's node again and again, once at least. It makes one write at a
// time: those that are due meanwhile wait for it, and their response time counts from
// when they were due. It returns how many it made, and how many were due and never made
// since it was done before.
func (b *bystander) work(ctx context.Context, path string, l *metrics.Latency, done func() bool) (made, omitted int64, err error) {
	for due := time.Now(); ; due = due.Add(workEvery) {
		began := time.Now()
		if wait := due.Sub(began); wait > 0 {
			keep(ctx, wait)
			began = time.Now()
			due = began // what the timer was late is not the service's
		}
		if err := drivers.Repeat(func() error {
			_, err := b.seat.Conn.Set(ctx, path, nil, drivers.AnyVersion)
			return err
		}); err != nil {
			return made, 0, fmt.Errorf("an ordinary client: %w", err)
		}
		now := time.Now()
		made++
		if l.Record(now.Sub(began), now.Sub(due)); done() {
			return made, int64(now.Sub(due) / workEvery), nil
		}
	}
}
