package recipe

import (
	"context"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/divided"
	"github.com/stampede-bench/stampede/workloads/settled"
)

// A Barrier is one session's handle on a barrier that blocks all clients.
type Barrier interface {
	// Set creates the barrier.
	Set(ctx context.Context) error
	// Wait blocks until the barrier is open.
	Wait(ctx context.Context) error
	// Open opens the barrier and releases all clients that wait.
	Open(ctx context.Context) error
}

// Barriers returns the workload constructor for a form of barrier. In each round all clients wait
// at a barrier. When the last has come and the hold has passed, the opener, which is not a client
// and has its own session, opens it. Creating the barrier is not counted. open creates one
// session's handle on the barrier at a path. Before Set only the path's parent exists.
func Barriers[S drivers.Conn, B Barrier](open func(c S, path string) B) workloads.Constructor {
	return func(s workloads.Settings) workloads.Workload {
		w := &barrierWorkload{hold: s.HoldTime(), polls: s.Polls, newBarrier: openerOf[Barrier](open),
			pass: s.Latency(passesPhase), open: s.Latency("open")}
		w.gathering = gather(s, 1, w.pass, w.open)
		return w
	}
}

type barrierWorkload struct {
	gathering
	hold       time.Duration
	polls      int
	newBarrier opener[Barrier]
	rounds     workloads.Rounds

	judge *check.RoundJudge[check.Barrier]

	pass *metrics.Latency // from the opening until one client is past
	open *metrics.Latency
}

func (w *barrierWorkload) Attach(admin drivers.Conn, base string, clients int) {
	w.clients = clients
	w.rounds = workloads.Rounds{Admin: admin, PathPrefix: base + "/barrier-", Slots: clients + 1,
		Create: w.create, Exchange: w.exchange, Steps: w.recorded}
	w.judge = newBarrierJudge(clients)
	w.recorded.JudgeBy(w.judge.Take)
}

func (w *barrierWorkload) Setup(ctx context.Context, _ drivers.Conn) error {
	return w.rounds.CreateFirst(ctx)
}

func (w *barrierWorkload) create(ctx context.Context, c drivers.Conn, path string) error {
	b, err := w.newBarrier(c, path)
	if err != nil {
		return err
	}
	return b.Set(ctx)
}

// The points of a round, at which clients of several processes wait for each other.
const (
	waitsPoint  = "waits"
	opensPoint  = "opens"
	passesPhase = "pass"
)

// Judge judges whether clients were past a barrier before it was opened.
func (w *barrierWorkload) Judge(g divided.Gathered) divided.Findings {
	safety := newBarrierJudge(g.Clients).TakeAll(g.Steps)
	return divided.Findings{Safety: &safety}
}

// newBarrierJudge returns the judge of barriers. The opener comes to each, then clients may be past.
func newBarrierJudge(clients int) *check.RoundJudge[check.Barrier] {
	return &check.RoundJudge[check.Barrier]{
		Slots: clients + 1,
		Share: func() *check.Barrier { return check.NewBarrier(1, "was past the barrier before it was opened") },
		Apply: func(opened *check.Barrier, c check.Client, s check.TimedStep) {
			switch {
			case s.Kind == check.Arrived && s.Name == opensPoint:
				opened.Arrive(c)
			case s.Kind == check.Passed:
				opened.Pass(c)
			}
		},
		Judge: func(s *metrics.Safety, opened *check.Barrier, disturbed func(check.Client) bool) {
			opened.Judge(s, check.AllClients, disturbed)
		},
	}
}

// Leads returns true: the leader opens the barrier.
func (w *barrierWorkload) Leads() bool { return true }

func (w *barrierWorkload) Join(s *workloads.Slot) (workloads.Client, error) {
	if s.Index == w.clients {
		return &barrierOpener{w, s}, nil
	}
	return &barrierClient{w, s}, nil
}

func (w *barrierWorkload) Verdict() metrics.Safety {
	w.rounds.End()
	return w.judge.Verdict()
}

// Settle lets all clients come to the barrier, one at a time, and opens it. Forms that poll look
// Polls more times, the last time just after the opening.
func (w *barrierWorkload) Settle(ctx context.Context, st *settled.Stepper) error {
	for i, slot := range st.Slots[:w.clients] {
		c := &barrierClient{w, slot}
		if err := st.Do(ctx, i, "arrives", "passes", func(ctx context.Context) error {
			_, err := c.Turn(ctx)
			return err
		}); err != nil {
			return err
		}
	}
	if err := st.Tick(ctx, w.polls-1); err != nil {
		return err
	}
	opener := &barrierOpener{w, st.Slots[w.clients]}
	r, err := w.rounds.Join(ctx, opener.slot)
	if err != nil {
		return err
	}
	if err := st.Do(ctx, w.clients, "opens the barrier", "", func(ctx context.Context) error { return opener.openBarrier(ctx, r) }); err != nil {
		return err
	}
	return st.Tick(ctx, 1)
}

// A barrierClient waits at the barrier of each round.
type barrierClient struct {
	*barrierWorkload
	slot *workloads.Slot
}

func (c *barrierClient) Turn(ctx context.Context) (int64, error) {
	r, err := c.rounds.Join(ctx, c.slot)
	if err != nil {
		return 0, err
	}
	b, err := c.newBarrier(c.slot.Conn, r.Path)
	if err != nil {
		return 0, err
	}
	// It was told of the barrier, so its member of the ensemble may not know of it yet. A lost session is the
	// form's to notice.
	_ = drivers.Steady(c.slot.Conn).Sync(ctx, r.Path)
	c.rounds.Arrive(r, c.slot, waitsPoint)
	c.slot.Marks.PhaseBegin()
	err = b.Wait(ctx)
	now := time.Now()
	c.slot.Marks.PhaseEnd()
	if err != nil {
		return 0, err
	}
	c.rounds.Note(r, c.slot, now, check.Step{Kind: check.Passed})
	opened, known := c.rounds.Started(r)
	if known {
		c.rounds.Record(c.pass, r, c.slot, now, now.Sub(opened))
	}
	// No client may run ahead through barriers that fail to block.
	if err := c.rounds.Wait(ctx, r, opensPoint, 1); err != nil {
		return 0, err
	}
	if _, here := c.rounds.Started(r); !here { // a client of another process has opened it
		c.rounds.Note(r, c.slot, now, check.Step{Kind: check.Reached, Name: passesPhase})
	}
	return c.rounds.Finish(ctx, c.slot)
}

// A barrierOpener opens the barrier of each round.
type barrierOpener struct {
	*barrierWorkload
	slot *workloads.Slot
}

func (o *barrierOpener) Turn(ctx context.Context) (int64, error) {
	r, err := o.rounds.Join(ctx, o.slot)
	if err != nil {
		return 0, err
	}
	if err := o.rounds.Wait(ctx, r, waitsPoint, o.clients); err != nil {
		return 0, err
	}
	o.slot.Hold(ctx, o.hold)
	if err := o.openBarrier(ctx, r); err != nil {
		return 0, err
	}
	return o.rounds.Finish(ctx, o.slot)
}

func (o *barrierOpener) openBarrier(ctx context.Context, r *workloads.Round) error {
	b, err := o.newBarrier(o.slot.Conn, r.Path)
	if err != nil {
		return err
	}
	o.rounds.Arrive(r, o.slot, opensPoint)
	began := time.Now()
	o.rounds.Start(r, began)
	lag := o.rounds.Lag(r, began)
	o.rounds.Note(r, o.slot, began, check.Step{Kind: check.Began, Name: passesPhase, Lag: lag})
	if err := b.Open(ctx); err != nil {
		return err
	}
	now := time.Now()
	o.rounds.Record(o.open, r, o.slot, now, now.Sub(began))
	return nil
}
