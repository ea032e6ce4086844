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

// A Storm is an event that happens to all sessions at the same time.
type Storm struct {
	// Brace prepares a session for the storm, at the path of the round.
	Brace func(ctx context.Context, s *Seat, path string) error
	// Hit applies the storm to one session. It returns when the session is usable again, which
	// takes an answer from the service.
	Hit func(ctx context.Context, s *Seat, path string) error
	// Outcome describes what is wrong with the round's path after the storm, as an ordinary client
	// sees it; "" if nothing is.
	Outcome func(ctx context.Context, c drivers.Conn, path string) (wrong string, err error)
}

// Sessions returns the workload constructor for a storm. In each round the storm hits all clients
// at the same time. An ordinary client, whose own session is not hit, works beside them: for the
// hold before the storm, and while the storm lasts.
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

	back     *metrics.Latency // from the storm's beginning until one client is back
	over     *metrics.Latency // until all clients are back
	ordinary *metrics.Latency // a set by the ordinary client during the storm
	calm     *metrics.Latency // a set by the ordinary client before the storm

	made, omitted atomic.Int64 // writes of the ordinary client during storms, and writes due but never made
}

// A squall is the state of one round of a storm.
type squall struct {
	braced *gate  // each client comes to it, then the ordinary client starts the storm
	begun  *gate  // the ordinary client comes to it, which starts the storm
	back   *gate  // each client comes to it, then the storm is over
	wrong  string // what is wrong after the storm
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

// Leads returns true: the leader is the ordinary client.
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

// Settle returns an error: the cost of a storm depends on its timing.
func (w *stormWorkload) Settle(context.Context, *Stage) error {
	return errors.New("a storm cannot be counted at rest")
}

// A stormClient is a client that the storm hits in each round.
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

// A bystander is the ordinary client, which keeps working during the storm.
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
	b.over.Record(took, r.responded(now, took)) // recorded in the window in which the round ended
	return ended, err
}

// workEvery is the interval at which the ordinary client has a write to make.
const workEvery = time.Millisecond

// work sets the round's node repeatedly, at least once, until done. It makes one write at a time.
// Writes that become due in the meantime wait, and their response time counts from when they were
// due. work returns how many writes it made, and how many were due but not made when it was done.
func (b *bystander) work(ctx context.Context, path string, l *metrics.Latency, done func() bool) (made, omitted int64, err error) {
	for due := time.Now(); ; due = due.Add(workEvery) {
		began := time.Now()
		if wait := due.Sub(began); wait > 0 {
			keep(ctx, wait)
			began = time.Now()
			due = began // the timer's lateness is not the service's
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
