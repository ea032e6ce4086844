package load

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/exchange"
	"github.com/stampede-bench/stampede/workloads/namespace"
)

// A Storm is an event that happens to all sessions at the same time.
type Storm struct {
	// Prepare prepares a session for the storm, at the path of the round. Closes: it closes the session.
	Prepare func(ctx context.Context, s *workloads.Slot, path string) error
	Closes  bool
	// Hit applies the storm to one session. It returns when the session is usable again, which
	// takes an answer from the service.
	Hit func(ctx context.Context, s *workloads.Slot, path string) error
	// Outcome describes a fault in the round's path after the storm, as an ordinary client sees it;
	// "" if there is none.
	Outcome func(ctx context.Context, c drivers.Conn, path string) (wrong string, err error)
}

// Sessions returns the workload constructor for a storm. In each round the storm hits all clients
// at the same time. An ordinary client, whose own session is not hit, works beside them: for the
// hold before the storm, and while the storm lasts.
func Sessions(storm Storm) workloads.Constructor {
	return func(s workloads.Settings) workloads.Workload {
		w := &stormWorkload{
			hold: s.HoldTime(), storm: storm, exchange: s.Exchange(), recorded: s.Steps(),
			back: s.Latency("back"), over: s.Latency(overPhase),
			during: s.Latency("ordinary"), before: s.Latency("calm"),
		}
		w.Timings = metrics.Timings{w.back, w.over, w.during, w.before}
		return w
	}
}

type stormWorkload struct {
	metrics.Timings
	hold    time.Duration
	storm   Storm
	clients int
	rounds  workloads.Rounds
	judge   *check.RoundJudge[string]

	exchange *exchange.Exchange
	recorded *check.Steps

	back   *metrics.Latency // from the storm's beginning until one client is back
	over   *metrics.Latency // until all clients are back
	during *metrics.Latency // a set by the ordinary client during the storm
	before *metrics.Latency // a set by the ordinary client before the storm

	made, omitted atomic.Int64 // writes of the ordinary client during storms, and writes due but never made
}

func (w *stormWorkload) Attach(admin drivers.Conn, base string, clients int) {
	w.clients = clients
	w.rounds = workloads.Rounds{Admin: admin, PathPrefix: base + "/storm-", Slots: clients + 1, Create: w.create,
		Exchange: w.exchange, Steps: w.recorded}
	w.judge = newStormJudge(clients)
	w.recorded.JudgeBy(w.judge.Take)
}

func (w *stormWorkload) Setup(ctx context.Context, _ drivers.Conn) error {
	return w.rounds.CreateFirst(ctx)
}

func (w *stormWorkload) create(ctx context.Context, c drivers.Conn, path string) error {
	return namespace.CreateNode(ctx, c, path, nil, 0)
}

// The points of a round, and the phase that may begin in one process and end in another.
const (
	readyPoint = "ready" // each client comes to it, then the ordinary client starts the storm
	begunPoint = "begun" // the ordinary client comes to it, which starts the storm
	backPoint  = "back"  // each client comes to it, then the storm is over
	overPhase  = "over"
)

// newStormJudge returns the judge of what is wrong after each storm.
func newStormJudge(clients int) *check.RoundJudge[string] {
	return &check.RoundJudge[string]{
		Slots: clients + 1,
		Share: func() *string { return new(string) },
		Apply: func(wrong *string, _ check.Client, s check.TimedStep) {
			if s.Kind == check.Decided {
				*wrong = s.Name
			}
		},
		Judge: func(s *metrics.Safety, wrong *string, _ func(check.Client) bool) {
			s.Checked++
			if *wrong != "" {
				s.Violations++
				s.Details = append(s.Details, *wrong)
			}
		},
	}
}

// Leads returns true: the leader is the ordinary client.
func (w *stormWorkload) Leads() bool { return true }

func (w *stormWorkload) Together() bool { return true }

func (w *stormWorkload) Join(s *workloads.Slot) (workloads.Client, error) {
	if s.Index == w.clients {
		return &ordinaryClient{w, s, workloads.Sleep}, nil
	}
	return &stormClient{w, s}, nil
}

func (w *stormWorkload) Fill(r *metrics.Record) {
	w.Timings.Fill(r)
	r.Rounds = r.Phases[1].Service.TotalCount()
	r.Storm = &metrics.Storm{Made: w.made.Load(), Omitted: w.omitted.Load()}
}

func (w *stormWorkload) Verdict() metrics.Safety {
	w.rounds.End()
	return w.judge.Verdict()
}

// A stormClient is a client that the storm hits in each round.
type stormClient struct {
	*stormWorkload
	slot *workloads.Slot
}

func (c *stormClient) Turn(ctx context.Context) (int64, error) {
	r, err := c.rounds.Join(ctx, c.slot)
	if err != nil {
		return 0, err
	}
	if err := c.awaitStorm(ctx, r); err != nil {
		return 0, fmt.Errorf("before the storm: %w", err)
	}
	began, here := c.rounds.Started(r)
	if !here { // in another process: here the storm begins when this process knows of it
		began = time.Now()
	}
	if err := c.storm.Hit(ctx, c.slot, r.Path); err != nil {
		return 0, fmt.Errorf("in the storm: %w", err)
	}
	now := time.Now()
	c.rounds.Note(r, c.slot, now, check.Step{Kind: check.Passed})
	c.rounds.Record(c.back, r, c.slot, now, now.Sub(began))
	c.rounds.Arrive(r, c.slot, backPoint)
	return c.rounds.Finish(ctx, c.slot)
}

// awaitStorm prepares the session and waits until the storm begins, or the service ends the session.
func (c *stormClient) awaitStorm(ctx context.Context, r *workloads.Round) error {
	bound, stop := drivers.Bound(ctx, c.slot.Conn)
	defer stop()
	if err := c.storm.Prepare(bound, c.slot, r.Path); err != nil {
		return err
	}
	if c.storm.Closes {
		bound = ctx
	}
	c.rounds.Arrive(r, c.slot, readyPoint)
	return c.rounds.Wait(bound, r, begunPoint, 1)
}

// An ordinaryClient is the ordinary client, which keeps working during the storm.
type ordinaryClient struct {
	*stormWorkload
	slot  *workloads.Slot
	sleep func(context.Context, time.Duration)
}

func (b *ordinaryClient) Turn(ctx context.Context) (int64, error) {
	r, err := b.rounds.Join(ctx, b.slot)
	if err != nil {
		return 0, err
	}
	if err := b.rounds.Wait(ctx, r, readyPoint, b.clients); err != nil {
		return 0, err
	}
	until := time.Now().Add(b.hold)
	if _, _, err := b.writeUntil(ctx, r, b.before, func() bool { return time.Now().After(until) }); err != nil {
		return 0, err
	}
	began := time.Now()
	b.rounds.Start(r, began)
	b.rounds.Arrive(r, b.slot, begunPoint)
	over := func() bool { return b.rounds.AllArrived(r, backPoint, b.clients) }
	made, omitted, err := b.writeUntil(ctx, r, b.during, over)
	if err != nil {
		return 0, err
	}
	r.Times.Count(&b.made, made)
	r.Times.Count(&b.omitted, omitted)
	if err := b.rounds.Wait(ctx, r, backPoint, b.clients); err != nil {
		return 0, err
	}
	now := time.Now()
	wrong, err := b.storm.Outcome(ctx, b.slot.Conn, r.Path)
	if err != nil {
		return 0, err
	}
	elsewhere := b.clients - b.rounds.Here(r, backPoint)
	b.rounds.Note(r, b.slot, now, check.Step{Kind: check.Decided, Name: wrong, Value: int64(elsewhere)})
	if elsewhere <= 0 { // else the steps of all processes show how long the storm lasted
		b.rounds.Record(b.over, r, b.slot, now, now.Sub(began))
	}
	return b.rounds.Finish(ctx, b.slot)
}

// writeInterval is the interval at which the ordinary client has a write to make.
const writeInterval = time.Millisecond

// writeUntil sets the round's node repeatedly, at least once, until done. It makes one write at a time.
// Writes that become due in the meantime wait, and their response time counts from when they were
// due. A write that becomes due while the client sleeps counts from when it wakes: a late timer is not
// the service's. It returns how many writes it made, and how many were due but not made when it was done.
func (b *ordinaryClient) writeUntil(
	ctx context.Context, round *workloads.Round, l *metrics.Latency, done func() bool,
) (made, omitted int64, err error) {
	var woke time.Time
	for due := time.Now(); ; due = due.Add(writeInterval) {
		if wait := time.Until(due); wait > 0 {
			b.sleep(ctx, wait)
			woke = time.Now()
		}
		began := time.Now()
		if err := drivers.Repeat(ctx, func() error {
			_, err := b.slot.Conn.Set(ctx, round.Path, nil, drivers.AnyVersion)
			return err
		}); err != nil {
			return made, 0, fmt.Errorf("an ordinary client: %w", err)
		}
		now := time.Now()
		made++
		b.slot.RecordIn(&round.Times, l, now.Sub(began), min(now.Sub(due), now.Sub(woke)))
		if done() {
			return made, int64(now.Sub(due) / writeInterval), nil
		}
	}
}
